import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { Menu } from "./Menu";

describe("a menu", () => {
  it("does what is chosen, by keyboard alone", async () => {
    HTMLElement.prototype.showPopover ??= () => {};
    HTMLElement.prototype.hidePopover ??= () => {};
    const [pause, cancel] = [vi.fn(), vi.fn()];
    render(
      <Menu
        label="Actions for job 7"
        items={[
          { label: "Pause", onSelect: pause },
          { label: "Cancel…", onSelect: cancel },
        ]}
      />,
    );
    const user = userEvent.setup();
    await user.tab();
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Actions for job 7" }));
    await user.keyboard("{Enter}{ArrowDown}{Enter}");
    expect(cancel).toHaveBeenCalledOnce();
    expect(pause).not.toHaveBeenCalled();
  });
});

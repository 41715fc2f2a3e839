import { onlineManager } from "@tanstack/react-query";
import { afterEach, describe, expect, it } from "vitest";
import { Problem } from "./problem";
import { newQueries } from "./queries";

afterEach(() => onlineManager.setOnline(true));

describe("without a network", () => {
  it("an action fails at once, and does not run when the network is back", async () => {
    onlineManager.setOnline(false);
    const queries = newQueries(() => undefined);
    let tries = 0;
    const pause = queries.getMutationCache().build(queries, {
      ...queries.getDefaultOptions().mutations,
      mutationFn: () => {
        tries += 1;
        return Promise.reject(new Problem(0, "No answer", "It does not answer."));
      },
    });
    await expect(pause.execute(undefined)).rejects.toThrow("It does not answer.");
    onlineManager.setOnline(true);
    await queries.resumePausedMutations();
    expect(tries).toBe(1);
    expect(pause.state.isPaused).toBe(false);
  });
});

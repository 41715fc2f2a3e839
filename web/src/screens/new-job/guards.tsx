import { useBlocker } from "@tanstack/react-router";
import { useEffect } from "react";
import { Confirm } from "../../design";

/** Keeps the browser from opening a file that is dropped beside the drop zone. */
export function useDropGuard(): void {
  useEffect(() => {
    const stop = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    };
    addEventListener("dragover", stop);
    addEventListener("drop", stop);
    return () => {
      removeEventListener("dragover", stop);
      removeEventListener("drop", stop);
    };
  }, []);
}

/** Asks before the user leaves a job that is not started. */
export function LeaveGuard({ isOn }: { isOn: () => boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isOn() && current.pathname !== next.pathname,
    enableBeforeUnload: isOn,
    withResolver: true,
  });
  if (status !== "blocked") return null;
  return (
    <Confirm
      title="Leave without starting the job?"
      action="Leave"
      cancel="Stay"
      onConfirm={proceed}
      onClose={reset}
    >
      <p>The file and the options that you chose are not saved.</p>
    </Confirm>
  );
}

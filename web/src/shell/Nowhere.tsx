import { Link } from "@tanstack/react-router";
import { Screen } from "../design";

/** There is no screen at this address. */
export function Nowhere() {
  return (
    <Screen title="There is nothing at this address">
      <p>
        It may have been deleted, or the link is incomplete. <Link to="/">Go to the jobs</Link>
      </p>
    </Screen>
  );
}

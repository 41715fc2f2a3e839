import { Link } from "@tanstack/react-router";
import { Screen } from "../design";

export function NotFoundScreen() {
  return (
    <Screen title="Page not found">
      <p>
        It may have been deleted, or the link is incomplete. <Link to="/">Go to Jobs</Link>
      </p>
    </Screen>
  );
}

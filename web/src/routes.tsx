import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { aboutQuery, meQuery } from "./api";
import { Loading } from "./design";
import { Failure, NotFoundScreen } from "./shell/Failure";
import { Frame } from "./shell/Frame";
import { loaded } from "./shell/loading";
import { only, ownPath, parseSearch, stringifySearch } from "./shell/urlState";

// Each screen is a separate chunk that loads when it is first opened. The names in `only` are the
// search parameters of a screen.

const root = createRootRouteWithContext<{ queries: QueryClient }>()();

/** Redirects a logged-in user away from the login page. */
async function leaveIfLoggedIn({
  context: { queries },
  search,
}: {
  context: { queries: QueryClient };
  search: { to?: string | undefined };
}): Promise<void> {
  const me = await queries.ensureQueryData(meQuery).catch(() => null);
  if (me !== null) throw redirect({ href: ownPath(search.to) });
}

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: only("to", "link", "why"),
  beforeLoad: leaveIfLoggedIn,
  component: lazyRouteComponent(() => loaded(import("./screens/login/LoginScreen")), "LoginScreen"),
});

const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: Frame,
  beforeLoad: async ({ context: { queries }, location }) => {
    const me = await queries.ensureQueryData(meQuery);
    if (me === null) {
      const to = location.href === "/" ? undefined : location.href;
      throw redirect({ to: "/login", search: { to } });
    }
    await queries.ensureQueryData(aboutQuery);
  },
});

const jobs = createRoute({
  getParentRoute: () => frame,
  path: "/",
  validateSearch: only("q", "states", "handler", "after"),
  component: lazyRouteComponent(() => loaded(import("./screens/jobs/JobsScreen")), "JobsScreen"),
});

const newJob = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/new",
  validateSearch: only("handler"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/new-job/NewJobScreen")),
    "NewJobScreen",
  ),
});

const job = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/$jobId",
  validateSearch: only(
    "tab",
    "item",
    "statuses",
    "q",
    "errorClass",
    "signature",
    "order",
    "columns",
    "charts",
    "after",
  ),
  component: lazyRouteComponent(() => loaded(import("./screens/job/JobScreen")), "JobScreen"),
});

const item = createRoute({
  getParentRoute: () => frame,
  path: "/items/$itemId",
  component: lazyRouteComponent(() => loaded(import("./screens/item/ItemScreen")), "ItemScreen"),
});

const review = createRoute({
  getParentRoute: () => frame,
  path: "/review",
  validateSearch: only("job", "item"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/review/ReviewScreen")),
    "ReviewScreen",
  ),
});

const pending = createRoute({
  getParentRoute: () => frame,
  path: "/pending",
  validateSearch: only("statuses", "userId", "jobType", "jobId", "from", "to", "item", "after"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/pending/PendingScreen")),
    "PendingScreen",
  ),
});

const mirrors = createRoute({
  getParentRoute: () => frame,
  path: "/mirrors",
  component: lazyRouteComponent(
    () => loaded(import("./screens/mirrors/MirrorsScreen")),
    "MirrorsScreen",
  ),
});

const mirror = createRoute({
  getParentRoute: () => frame,
  path: "/mirrors/$mirrorId",
  validateSearch: only("tab", "pass", "from", "to", "stream", "row", "item", "after"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/mirror/MirrorScreen")),
    "MirrorScreen",
  ),
});

const stream = createRoute({
  getParentRoute: () => frame,
  path: "/mirrors/$mirrorId/streams/$streamId",
  validateSearch: only("tab", "deleted", "row", "after"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/stream/StreamScreen")),
    "StreamScreen",
  ),
});

const providers = createRoute({
  getParentRoute: () => frame,
  path: "/providers",
  validateSearch: only("which", "gate", "q"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/providers/ProvidersScreen")),
    "ProvidersScreen",
  ),
});

const workers = createRoute({
  getParentRoute: () => frame,
  path: "/workers",
  validateSearch: only("all"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/workers/WorkersScreen")),
    "WorkersScreen",
  ),
});

const deadLetters = createRoute({
  getParentRoute: () => frame,
  path: "/dead-letters",
  validateSearch: only("errorClass", "jobType", "item", "after"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/dead-letters/DeadLettersScreen")),
    "DeadLettersScreen",
  ),
});

const settings = createRoute({
  getParentRoute: () => frame,
  path: "/settings",
  validateSearch: only("tab"),
  component: lazyRouteComponent(
    () => loaded(import("./screens/settings/SettingsScreen")),
    "SettingsScreen",
  ),
});

const notFound = createRoute({ getParentRoute: () => frame, path: "$", component: NotFoundScreen });

const screens = [
  jobs,
  newJob,
  job,
  item,
  review,
  pending,
  mirrors,
  mirror,
  stream,
  providers,
  workers,
  deadLetters,
  settings,
  notFound,
] as const;

const tree = root.addChildren([login, frame.addChildren(screens)]);

export function newRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    parseSearch,
    stringifySearch,
    defaultErrorComponent: Failure,
    defaultPendingComponent: () => <Loading />,
    defaultPreload: "intent",
    scrollRestoration: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof newRouter>;
  }
}

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
import { Failure } from "./shell/Failure";
import { Frame } from "./shell/Frame";
import { Nowhere } from "./shell/Nowhere";
import { only, parseSearch, stringifySearch } from "./shell/search";

// Each screen is a file of its own that is loaded when it is first opened. The names behind
// `only` are what a screen keeps in the URL.

const root = createRootRouteWithContext<{ queries: QueryClient }>()();

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: only("to", "link"),
  component: lazyRouteComponent(() => import("./screens/login/LoginScreen"), "LoginScreen"),
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
  component: lazyRouteComponent(() => import("./screens/jobs/JobsScreen"), "JobsScreen"),
});

const newJob = createRoute({
  getParentRoute: () => frame,
  path: "/jobs/new",
  validateSearch: only("handler"),
  component: lazyRouteComponent(() => import("./screens/new-job/NewJobScreen"), "NewJobScreen"),
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
  component: lazyRouteComponent(() => import("./screens/job/JobScreen"), "JobScreen"),
});

const item = createRoute({
  getParentRoute: () => frame,
  path: "/items/$itemId",
  component: lazyRouteComponent(() => import("./screens/item/ItemScreen"), "ItemScreen"),
});

const review = createRoute({
  getParentRoute: () => frame,
  path: "/review",
  validateSearch: only("job", "item"),
  component: lazyRouteComponent(() => import("./screens/review/ReviewScreen"), "ReviewScreen"),
});

const pending = createRoute({
  getParentRoute: () => frame,
  path: "/pending",
  validateSearch: only("statuses", "userId", "jobType", "jobId", "from", "to", "item", "after"),
  component: lazyRouteComponent(() => import("./screens/pending/PendingScreen"), "PendingScreen"),
});

const providers = createRoute({
  getParentRoute: () => frame,
  path: "/providers",
  validateSearch: only("which", "gate", "q"),
  component: lazyRouteComponent(
    () => import("./screens/providers/ProvidersScreen"),
    "ProvidersScreen",
  ),
});

const workers = createRoute({
  getParentRoute: () => frame,
  path: "/workers",
  validateSearch: only("all"),
  component: lazyRouteComponent(() => import("./screens/workers/WorkersScreen"), "WorkersScreen"),
});

const deadLetters = createRoute({
  getParentRoute: () => frame,
  path: "/dead-letters",
  validateSearch: only("errorClass", "jobType", "item", "after"),
  component: lazyRouteComponent(
    () => import("./screens/dead-letters/DeadLettersScreen"),
    "DeadLettersScreen",
  ),
});

const settings = createRoute({
  getParentRoute: () => frame,
  path: "/settings",
  validateSearch: only("tab"),
  component: lazyRouteComponent(
    () => import("./screens/settings/SettingsScreen"),
    "SettingsScreen",
  ),
});

const nowhere = createRoute({ getParentRoute: () => frame, path: "$", component: Nowhere });

const screens = [
  jobs,
  newJob,
  job,
  item,
  review,
  pending,
  providers,
  workers,
  deadLetters,
  settings,
  nowhere,
] as const;

const tree = root.addChildren([login, frame.addChildren(screens)]);

/** The router over what was fetched. */
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

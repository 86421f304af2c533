import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type ErrorComponentProps,
  Outlet,
} from "@tanstack/react-router";
import { Bug } from "lucide-react";

import { messageOf } from "./api/client";
import { useSessionsBus } from "./api/useSessionsBus";
import { Button } from "./components/Button";
import { Placeholder } from "./components/Placeholder";
import { CommandCenter } from "./features/commands/CommandCenter";
import { NotFoundPage } from "./pages/NotFoundPage";
import { SessionsPage } from "./pages/SessionsPage";

/** The root of all routes. */
const root = createRootRoute({ component: Root });

/** Keeps the list of sessions up to date and offers commands, whichever page is open. */
function Root() {
  useSessionsBus();
  return (
    <>
      <Outlet />
      <CommandCenter />
    </>
  );
}

const sessions = createRoute({ getParentRoute: () => root, path: "/", component: SessionsPage });

interface SessionSearch {
  /** The panel to show. */
  panel?: string;
}

const session = createRoute({
  getParentRoute: () => root,
  path: "/sessions/$sessionId",
  validateSearch: ({ panel }: Record<string, unknown>): SessionSearch =>
    typeof panel === "string" ? { panel } : {},
  // Half of the page's code is for this route, and the list does not wait for it.
  component: lazyRouteComponent(() => import("./pages/SessionPage"), "SessionPage"),
});

const decisions = createRoute({
  getParentRoute: () => root,
  path: "/decisions",
  component: lazyRouteComponent(() => import("./pages/DecisionsPage"), "DecisionsPage"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("./pages/SettingsPage"), "SettingsPage"),
});

const connect = createRoute({
  getParentRoute: () => root,
  path: "/connect",
  component: lazyRouteComponent(() => import("./pages/ConnectPage"), "ConnectPage"),
});

const streams = createRoute({
  getParentRoute: () => root,
  path: "/streams",
  component: lazyRouteComponent(() => import("./pages/StreamsPage"), "StreamsPage"),
});

const evals = createRoute({
  getParentRoute: () => root,
  path: "/evals",
  component: lazyRouteComponent(() => import("./pages/EvalsPage"), "EvalsPage"),
});

const evalRun = createRoute({
  getParentRoute: () => root,
  path: "/evals/$evalId",
  component: lazyRouteComponent(() => import("./pages/EvalPage"), "EvalPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([sessions, session, decisions, settings, connect, streams, evals, evalRun]),
  defaultPreload: "intent",
  defaultNotFoundComponent: () => <NotFoundPage />,
  defaultErrorComponent: Broken,
});

/** Shown if the page itself failed. */
function Broken({ error }: ErrorComponentProps) {
  return (
    <main className="grid min-h-full place-items-center">
      <Placeholder
        icon={<Bug aria-hidden />}
        title="This page failed"
        actions={<Button onClick={() => window.location.reload()}>Reload</Button>}
      >
        {messageOf(error)}
      </Placeholder>
    </main>
  );
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

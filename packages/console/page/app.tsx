import type { ComponentType, JSX } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useRef } from "preact/hooks";
import { Link, Route, Router, Switch, useLocation } from "wouter-preact";
import { useHashLocation } from "wouter-preact/use-hash-location";
import icon from "./icon.svg";
import { announcement, waitingForPerson } from "./hub/announce.ts";
import { connection, follow } from "./hub/feed.ts";
import { forgetSession, session, signInProblem, signOut } from "./hub/session.ts";
import { Time, useNow, durationText } from "./parts/text.tsx";
import { ThemeButton } from "./parts/theme.tsx";
import { Now } from "./views/now.tsx";

type View = ComponentType<{ readonly params: Record<string, string> }>;

interface Place {
  readonly path: string;
  readonly name: string;
  readonly sign: string;
  readonly view: View;
}

const PLACES: readonly Place[] = [
  { path: "/", name: "Now", sign: "◉", view: Now },
  {
    path: "/inbox",
    name: "Inbox",
    sign: "☑",
    view: lazy(() => import("./views/inbox.tsx").then((view) => view.InboxView)),
  },
  {
    path: "/handoffs",
    name: "Handoffs",
    sign: "⇄",
    view: lazy(() => import("./views/handoffs.tsx").then((view) => view.Handoffs)),
  },
  {
    path: "/dead-letters",
    name: "Dead letters",
    sign: "✉",
    view: lazy(() => import("./views/dead-letters.tsx").then((view) => view.DeadLetters)),
  },
  {
    path: "/agents",
    name: "Agents",
    sign: "☷",
    view: lazy(() => import("./views/agents.tsx").then((view) => view.Agents)),
  },
  {
    path: "/ledger",
    name: "Ledger",
    sign: "≡",
    view: lazy(() => import("./views/ledger.tsx").then((view) => view.Ledger)),
  },
];

const PAGES: readonly (readonly [path: string, view: View])[] = [
  ["/handoffs/:id", lazy(() => import("./views/handoff.tsx").then((view) => view.Handoff))],
  ["/dead-letters/:id", lazy(() => import("./views/replay.tsx").then((view) => view.Replay))],
  ["/jobs/:id", lazy(() => import("./views/job.tsx").then((view) => view.Job))],
  ["/agents/:id", lazy(() => import("./views/agent.tsx").then((view) => view.Agent))],
];

/** The whole page. */
export function App(): JSX.Element {
  const { value } = session;
  if (value === undefined) return <main class="alone" aria-busy="true" />;
  if (value === null) return <SignIn />;
  return (
    <Router hook={useHashLocation}>
      <Frame />
    </Router>
  );
}

function SignIn() {
  return (
    <main class="alone">
      <h1>Waybill console</h1>
      {signInProblem.value !== "" && (
        <p class="problem" role="alert">
          {signInProblem.value}
        </p>
      )}
      <p>
        To sign in, open the link that <code>waybill dev</code> prints. It works once. Print another
        one in the folder of the hub:
      </p>
      <pre>waybill console</pre>
    </main>
  );
}

function Frame() {
  useEffect(() => {
    const stop = new AbortController();
    void follow(stop.signal);
    // Whoever works at this page is reached in each of its views.
    void import("./person/current-inbox.ts").then(({ keepInbox }) => keepInbox(stop.signal));
    if (session.value?.role === "operator") {
      void import("./operator/results.ts").then(({ keepResults }) => keepResults(stop.signal));
    }
    return () => stop.abort();
  }, []);
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    // Whoever follows a link by keyboard continues in the new view.
    if (shown.current !== path) main.current?.focus();
    shown.current = path;
  }, [path]);
  const { role, expiresAt } = session.value!;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header>
        <Link href="/" class="brand">
          <img src={icon} alt="" width="24" height="24" /> Waybill
        </Link>
        <nav aria-label="Views">
          {PLACES.map(({ path: to, name, sign }) => (
            <Link key={to} href={to} aria-current={isWithin(path, to) ? "page" : undefined}>
              <span aria-hidden="true">{sign}</span> {name}
              {to === "/inbox" && <WaitingCount />}
            </Link>
          ))}
        </nav>
        <div class="who">
          <ConnectionMark />
          <span title={`Until ${new Date(expiresAt).toLocaleString("en-GB")}`}>
            {role === "operator" ? "Operator" : "Reader: can't change anything"}
          </span>
          <ThemeButton />
          <button type="button" class="plain" onClick={() => void leave()}>
            Sign out
          </button>
        </div>
      </header>
      <GoneBar />
      <p class="announced" role="status">
        {announcement.value}
      </p>
      <main id="main" tabIndex={-1} ref={main}>
        <Suspense
          fallback={
            <p class="empty" aria-busy="true">
              Loading…
            </p>
          }
        >
          <Switch>
            {[...PLACES.map(({ path: to, view }) => [to, view] as const), ...PAGES].map(
              ([to, view]) => (
                <Route key={to} path={to} component={view as never} />
              ),
            )}
            <Route>
              <h1>Nothing is here</h1>
              <p>
                <Link href="/">Back to what happens now</Link>
              </p>
            </Route>
          </Switch>
        </Suspense>
      </main>
    </>
  );
}

function WaitingCount() {
  const { value } = waitingForPerson;
  if (value === 0) return null;
  return (
    <b class="count">
      {value} <span class="unseen">waiting</span>
    </b>
  );
}

/** The next person at this browser must not act with the key of this one. */
async function leave(): Promise<void> {
  // At once: the hub may be slow to answer, and the page may be reloaded or closed meanwhile.
  await forgetSession();
  if (session.value?.role === "operator") {
    const { revoke } = await import("./operator/key.ts");
    await revoke().catch(() => undefined);
  }
  await signOut();
}

function isWithin(path: string, place: string): boolean {
  return place === "/" ? path === "/" : path === place || path.startsWith(`${place}/`);
}

function ConnectionMark() {
  const { type } = connection.value;
  const says = { connecting: "Connecting", live: "Live", gone: "No connection" }[type];
  return (
    <span class={`connection ${type}`} role="status">
      {says}
    </span>
  );
}

function GoneBar() {
  const { value } = connection;
  if (value.type !== "gone") return null;
  return <Gone since={value.since} why={value.why} />;
}

function Gone({ since, why }: { readonly since: number; readonly why: string }) {
  const at = useNow();
  return (
    <p class="gone" role="alert">
      The hub does not answer since <Time at={since} />. {why} What you see is from before; the page
      tries again by itself.{" "}
      <span aria-hidden="true">({durationText(Math.max(0, at - since))})</span>
    </p>
  );
}

import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { keys, useAbout, useLogout, useMay, useMe } from "../api";
import { Button, classes, Icon, type IconName, Menu, ToastProvider } from "../design";
import { chooseTheme, type Theme, useTheme } from "../design/theme";
import { LiveProvider } from "../live";
import styles from "./Frame.module.css";
import { KeyboardHelp } from "./KeyboardHelp";
import { LiveIndicator } from "./LiveIndicator";

/** The frame around every screen: navigation, user, live state. */
export function Frame() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const toLogin = useCallback(() => {
    queries.setQueryData(keys.me, null);
    void navigate({
      to: "/login",
      search: { to: location.pathname + location.search, why: "ended" },
    });
  }, [navigate, queries]);
  return (
    <ToastProvider>
      <LiveProvider onLoggedOut={toLogin}>
        <div className={styles.frame}>
          <a href="#main" className={styles.skip}>
            Skip to content
          </a>
          <Header />
          <main id="main" tabIndex={-1} className={styles.main}>
            <Outlet />
          </main>
        </div>
      </LiveProvider>
    </ToastProvider>
  );
}

function Header() {
  // The phone menu closes on navigation.
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [openedAt, setOpenedAt] = useState<string | null>(null);
  const isOpen = openedAt === path;
  return (
    <header className={styles.top}>
      <Button
        variant="quiet"
        icon={isOpen ? "cross" : "menu"}
        aria-label="Navigation"
        aria-expanded={isOpen}
        className={styles.fold}
        onClick={() => setOpenedAt(isOpen ? null : path)}
      />
      <Link to="/" className={styles.name}>
        <Icon name="gate" size={18} /> Headgate
      </Link>
      <Navigation isOpen={isOpen} />
      <div className={styles.tools}>
        <LiveIndicator />
        <KeyboardHelp />
        <ThemeSwitch />
        <WhoAmI />
      </div>
    </header>
  );
}

interface NavLink {
  to: string;
  icon: IconName;
  label: string;
}

function useNavLinks(): NavLink[] {
  const isAdmin = useMay("admin");
  const hasPending = useAbout()?.features.pendingView ?? false;
  const pending: NavLink = { to: "/pending", icon: "clock", label: "Pending" };
  const forAdmins: NavLink[] = [
    { to: "/providers", icon: "gate", label: "Providers" },
    { to: "/workers", icon: "worker", label: "Workers" },
  ];
  return [
    { to: "/", icon: "jobs", label: "Jobs" },
    { to: "/mirrors", icon: "copy", label: "Mirrors" },
    ...(hasPending ? [pending] : []),
    { to: "/review", icon: "question", label: "Review" },
    { to: "/dead-letters", icon: "cross", label: "Dead letters" },
    ...(isAdmin ? forAdmins : []),
    { to: "/settings", icon: "gear", label: "Settings" },
  ];
}

function Navigation({ isOpen }: { isOpen: boolean }) {
  const places = useNavLinks();
  return (
    <nav aria-label="Main" className={classes(styles.nav, isOpen && styles.unfolded)}>
      {places.map(({ to, icon, label }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === "/" }}
          className={styles.place}
          activeProps={{ className: styles.here ?? "", "aria-current": "page" }}
        >
          <Icon name={icon} />
          {label}
        </Link>
      ))}
    </nav>
  );
}

function WhoAmI() {
  const me = useMe();
  const logout = useLogout();
  const navigate = useNavigate();
  if (!me) return null;
  return (
    <Menu
      label={`${me.name}, ${me.role}`}
      button={{
        "aria-label": `${me.name}, ${me.role}`,
        icon: "person",
        variant: "quiet",
        children: <span className={styles.who}>{me.name}</span>,
      }}
      items={[
        {
          label: `${me.name} (${me.role})`,
          icon: "person",
          onSelect: () => void navigate({ to: "/settings" }),
        },
        {
          label: "Log out",
          icon: "arrowRight",
          onSelect: () => logout.mutate(),
        },
      ]}
    />
  );
}

const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
const ICONS: Record<Theme, IconName> = { auto: "screen", light: "sun", dark: "moon" };
const WORDS: Record<Theme, string> = { auto: "system", light: "light", dark: "dark" };

export function ThemeSwitch() {
  const theme = useTheme();
  return (
    <Button
      variant="quiet"
      icon={ICONS[theme]}
      aria-label={`Theme: ${WORDS[theme]}`}
      onClick={() => chooseTheme(NEXT[theme])}
    />
  );
}

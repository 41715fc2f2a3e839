import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import { Applying } from "./apply";
import { Connection, type LiveState } from "./connection";
import type { News, NewsKind, NewsOf } from "./news";

type Hearer = (news: News) => void;

interface Live {
  connection: Connection;
  hearers: Set<Hearer>;
}

const LiveContext = createContext<Live | null>(null);

/** Keeps what is shown below it current. */
export function LiveProvider({
  children,
  onLoggedOut,
}: {
  children: ReactNode;
  onLoggedOut: () => void;
}) {
  const queries = useQueryClient();
  const [applying] = useState(() => new Applying(queries));
  const live = useMemo<Live>(() => {
    const hearers = new Set<Hearer>();
    const connection = new Connection({
      told: (message) => {
        const news = { kind: message.kind, value: JSON.parse(message.data) } as News;
        applying.apply(news);
        for (const hear of hearers) hear(news);
      },
      back: () => applying.applyAll(),
      loggedOut: onLoggedOut,
    });
    return { connection, hearers };
  }, [applying, onLoggedOut]);

  useEffect(() => {
    const { connection } = live;
    const cut = () => connection.cut();
    const seek = () => connection.seek();
    connection.listen(null);
    globalThis.addEventListener("offline", cut);
    globalThis.addEventListener("online", seek);
    return () => {
      globalThis.removeEventListener("offline", cut);
      globalThis.removeEventListener("online", seek);
      connection.close();
      applying.close();
    };
  }, [live, applying]);

  return <LiveContext value={live}>{children}</LiveContext>;
}

function useConnection(): Live {
  const live = useContext(LiveContext);
  if (!live) throw new Error("there is no LiveProvider above this");
  return live;
}

/** How current the page is, and how to hold it still. */
export function useLive(): LiveState & { pause: () => void; resume: () => void } {
  const { connection } = useConnection();
  const state = useSyncExternalStore(
    (watcher) => connection.subscribe(watcher),
    () => connection.state,
  );
  return { ...state, pause: () => connection.pause(), resume: () => connection.resume() };
}

/** Hear of one job, four times a second, for as long as this is shown; else of all, once. */
export function useLiveJob(jobId: string): void {
  const { connection } = useConnection();
  useEffect(() => {
    connection.listen(jobId);
    return () => connection.listen(null);
  }, [connection, jobId]);
}

/** Hear one kind of news as it comes; `hear` must keep its identity (useCallback). */
export function useNews<K extends NewsKind>(kind: K, hear: (value: NewsOf<K>) => void): void {
  const { hearers } = useConnection();
  useEffect(() => {
    const hearer: Hearer = (news) => {
      if (news.kind === kind) hear(news.value as NewsOf<K>);
    };
    hearers.add(hearer);
    return () => {
      hearers.delete(hearer);
    };
  }, [hearers, kind, hear]);
}

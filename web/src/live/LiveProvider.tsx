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
import { CacheUpdater } from "./apply";
import { Connection, type LiveState } from "./connection";
import type { LiveMessage, LiveMessageKind, LiveMessageValue } from "./messages";

type LiveListener = (message: LiveMessage) => void;

interface Live {
  connection: Connection;
  listeners: Set<LiveListener>;
}

const LiveContext = createContext<Live | null>(null);

export function LiveProvider({
  children,
  onLoggedOut,
}: {
  children: ReactNode;
  onLoggedOut: () => void;
}) {
  const queries = useQueryClient();
  const [updater] = useState(() => new CacheUpdater(queries));
  const live = useMemo<Live>(() => {
    const listeners = new Set<LiveListener>();
    const connection = new Connection({
      onMessage: (message) => {
        const live = { kind: message.kind, value: JSON.parse(message.data) } as LiveMessage;
        updater.apply(live);
        for (const listener of listeners) listener(live);
      },
      onReconnect: () => updater.applyAll(),
      onLoggedOut: onLoggedOut,
    });
    return { connection, listeners };
  }, [updater, onLoggedOut]);

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
      updater.close();
    };
  }, [live, updater]);

  return <LiveContext value={live}>{children}</LiveContext>;
}

function useConnection(): Live {
  const live = useContext(LiveContext);
  if (!live) throw new Error("live hooks need a LiveProvider");
  return live;
}

/** The connection state, and functions to pause and resume live updates. */
export function useLive(): LiveState & { pause: () => void; resume: () => void } {
  const { connection } = useConnection();
  const state = useSyncExternalStore(
    (watcher) => connection.subscribe(watcher),
    () => connection.state,
  );
  return { ...state, pause: () => connection.pause(), resume: () => connection.resume() };
}

/**
 * Subscribes to one job, four times a second, while mounted; otherwise to all jobs, once a second.
 */
export function useLiveJob(jobId: string): void {
  const { connection } = useConnection();
  useEffect(() => {
    connection.listen(jobId);
    return () => connection.listen(null);
  }, [connection, jobId]);
}

/** Subscribes to one kind of message; `onMessage` must keep its identity (useCallback). */
export function useLiveMessage<K extends LiveMessageKind>(
  kind: K,
  onMessage: (value: LiveMessageValue<K>) => void,
): void {
  const { listeners } = useConnection();
  useEffect(() => {
    const listener: LiveListener = (message) => {
      if (message.kind === kind) onMessage(message.value as LiveMessageValue<K>);
    };
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [listeners, kind, onMessage]);
}

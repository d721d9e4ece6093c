import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Button, Empty, Skeleton } from "#web/shared/ui/elements.tsx";
import { messageOf } from "#web/shared/ui/notices.ts";
import type { Page } from "#web/dashboard/api.ts";
import { icons } from "./icons.ts";

/** Data of the server. `data` stays while it is loaded again, and when that fails. */
export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => Promise<void>;
  /** Replaces the data by what a change has answered. */
  readonly set: (data: T) => void;
  /** Changes the data that is shown; nothing before it is there. */
  readonly change: (to: (before: T) => T) => void;
}

interface State<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
}

/** Loads data when the component appears and when `deps` change. Only the answer to the last request counts. */
export function useResource<T>(load: () => Promise<T>, deps: readonly unknown[]): Resource<T> {
  const [state, setState] = useState<State<T>>({ data: undefined, error: undefined, isLoading: true });
  const last = useRef(0);
  const isUnderWay = useRef(false);
  const current = useRef(load);
  current.current = load;

  const reload = useCallback(async (): Promise<void> => {
    const number = (last.current += 1);
    isUnderWay.current = true;
    setState((before) => ({ ...before, isLoading: true }));
    const ended = (to: (before: State<T>) => State<T>): void => {
      if (number !== last.current) return;
      isUnderWay.current = false;
      setState(to);
    };
    try {
      const data = await current.current();
      ended(() => ({ data, error: undefined, isLoading: false }));
    } catch (error) {
      ended((before) => ({ ...before, error, isLoading: false }));
    }
  }, []);
  const set = useCallback((data: T): void => {
    last.current += 1;
    isUnderWay.current = false;
    setState({ data, error: undefined, isLoading: false });
  }, []);
  const change = useCallback((to: (before: T) => T): void => {
    setState((before) => (before.data === undefined ? before : { ...before, data: to(before.data) }));
    // The answer that is on its way may be older than the change.
    if (isUnderWay.current) void reload();
  }, []);
  useEffect(() => {
    void reload();
    return () => {
      last.current += 1;
      isUnderWay.current = false;
    };
  }, deps);
  return { ...state, reload, set, change };
}

/** A list that is loaded in parts. */
export interface Paged<T> extends Resource<readonly T[]> {
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly more: () => Promise<void>;
}

/** Loads the first part of a list, and the next one by `more`. `reload` begins again with the first part. */
export function usePaged<T>(
  load: (cursor: string | undefined) => Promise<Page<T>>,
  deps: readonly unknown[],
): Paged<T> {
  const pages = useResource<Page<T>>(() => load(undefined), deps);
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [moreError, setMoreError] = useState<unknown>();
  const latest = useRef(pages.data);
  latest.current = pages.data;

  return {
    data: pages.data?.items,
    error: pages.error ?? moreError,
    isLoading: pages.isLoading,
    reload: pages.reload,
    set: (items) => pages.set({ items, next: latest.current?.next ?? null }),
    change: (to) => pages.change(({ items, next }) => ({ items: to(items), next })),
    hasMore: pages.data !== undefined && pages.data.next !== null,
    isLoadingMore,
    async more() {
      const before = latest.current;
      if (isLoadingMore || before === undefined || before.next === null) return;
      setLoadingMore(true);
      setMoreError(undefined);
      try {
        const { items, next } = await load(before.next);
        // The list may have been loaded again in the meantime.
        if (latest.current === before) pages.set({ items: [...before.items, ...items], next });
      } catch (error) {
        setMoreError(error);
      } finally {
        setLoadingMore(false);
      }
    },
  };
}

/** Shows data, grey lines until it is there, or why it could not be loaded, with a button that tries again. */
export function Loaded<T>(props: {
  readonly of: Resource<T>;
  /** Grey lines. */
  readonly lines?: number;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { data, error, isLoading, reload } = props.of;
  const retry = (
    <Button
      label="Try again"
      kind="secondary"
      shape={icons.reload}
      disabled={isLoading}
      onClick={() => void reload()}
    />
  );
  if (data === undefined) {
    if (error === undefined) return <Skeleton lines={props.lines ?? 4} />;
    return (
      <Empty shape="alert" title="This could not be loaded" isProblem>
        <p>{messageOf(error)}</p>
        {retry}
      </Empty>
    );
  }
  return (
    <div class="loaded" aria-busy={isLoading}>
      {error !== undefined && (
        <div class="callout bad" role="alert">
          <p>{messageOf(error)}</p>
          {retry}
        </div>
      )}
      {props.children(data)}
    </div>
  );
}

/** The button below a list that loads its next part. */
export function ShowMore({ of: list }: { readonly of: Omit<Paged<unknown>, "set" | "change"> }) {
  if (!list.hasMore) return null;
  return (
    <p class="show-more">
      <Button
        label={list.isLoadingMore ? "Loading…" : "Show more"}
        kind="secondary"
        disabled={list.isLoadingMore}
        onClick={() => void list.more()}
      />
    </p>
  );
}

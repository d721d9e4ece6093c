import { createRequest, uploadTo } from "#web/shared/request.ts";

const base = "/admin/v1/";
const request = createRequest(base, () => `/inbox/login?to=${encodeURIComponent(location.pathname + location.search)}`);

/** A part of a list. `next`: the cursor of the part after it, null at the end. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** A path with those values that are not empty. */
export function withQuery(path: string, query: Query): string {
  const set = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)] as const],
  );
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set.map((pair) => [...pair]))}`;
}

/** Requests to `/admin/v1/`. A refused one throws `RequestFailed`; one without a session leads to the sign-in page. */
export const api = {
  // The server is of the same build as this code, so its answers have the types that the pages name.
  get: async <T>(path: string, query: Query = {}) => (await request("GET", withQuery(path, query))) as T,
  post: async <T = unknown>(path: string, body: object = {}) => (await request("POST", path, body)) as T,
  put: async <T = unknown>(path: string, body: object) => (await request("PUT", path, body)) as T,
  patch: async <T = unknown>(path: string, body: object) => (await request("PATCH", path, body)) as T,
  del: async (path: string) => void (await request("DELETE", path)),
  /** A part of the list that is called `name` in the answer. */
  async page<T>(path: string, name: string, query: Query = {}): Promise<Page<T>> {
    const answer = (await request("GET", withQuery(path, query))) as Readonly<Record<string, unknown>>;
    const { next_cursor, has_more } = answer["pagination"] as {
      readonly next_cursor: string;
      readonly has_more: boolean;
    };
    return { items: answer[name] as readonly T[], next: has_more ? next_cursor : null };
  },
  /** Sends a file, as its bytes or in a form. `progress` gets the share that was sent, 0 to 1. */
  upload: async <T>(
    path: string,
    file: Blob | FormData,
    progress: (share: number) => void,
    signal: AbortSignal = new AbortController().signal,
  ) => (await uploadTo(base + path, file, signal, progress)) as T,
  /** Saves what the server sends as a file. */
  download(path: string): void {
    const link = document.createElement("a");
    link.href = base + path;
    link.download = "";
    link.click();
  },
};

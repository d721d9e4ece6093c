import type { Fanout } from "#runtime/signals.ts";
import type { HttpDependencies, HttpOptions } from "#http/dependencies.ts";

export interface InboxDependencies extends Pick<
  HttpDependencies,
  "store" | "engine" | "documents" | "files" | "listConversations" | "clock" | "log"
> {
  readonly fanout: Fanout;
  readonly options: Pick<HttpOptions, "publicUrl" | "timeouts">;
  /** The folder of the browser build; `dist/` unless a test says otherwise. */
  readonly assets?: URL;
}

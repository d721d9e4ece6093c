import type { Fanout } from "#runtime/signals.ts";
import type { HttpDependencies, HttpOptions } from "#http/dependencies.ts";

export interface InboxDependencies extends Pick<
  HttpDependencies,
  | "assets"
  | "store"
  | "engine"
  | "documents"
  | "files"
  | "listConversations"
  | "clock"
  | "log"
  | "secrets"
  | "canMail"
  | "guardedFetch"
> {
  readonly fanout: Fanout;
  readonly options: Pick<HttpOptions, "publicUrl" | "timeouts">;
}

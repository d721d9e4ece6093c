import type { Api } from "grammy";

/** grammY is typed against a package's own AbortSignal, and works with the platform's. */
export function grammySignal(signal: AbortSignal): NonNullable<Parameters<Api["getMe"]>[0]> {
  return signal as unknown as NonNullable<Parameters<Api["getMe"]>[0]>;
}

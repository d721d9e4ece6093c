import type { Api } from "grammy";
import { DeliveryError } from "#channels/errors.ts";
import { failureOf } from "./errors.ts";
import { grammySignal } from "./client.ts";

/**
 * Escapes a file's path for an address; undefined for a path outside of the bot's folder. The extension comes from the
 * customer and may contain any character.
 */
function addressOf(path: string): string | undefined {
  const names = path.split("/");
  const isBelow = path.isWellFormed() && names.every((name) => !/^\.{0,2}$|[\\\p{Cc}]/u.test(name));
  return isBelow ? names.map((name) => encodeURIComponent(name)).join("/") : undefined;
}

/**
 * Fetches a file from Telegram. Its address contains the token, so neither the address nor an error with it may leave this
 * function.
 */
export async function fetchTelegramFile(
  {
    api,
    apiRoot,
    token,
    fetch,
  }: { readonly api: Api; readonly apiRoot: string; readonly token: string; readonly fetch: typeof globalThis.fetch },
  fileId: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const address = await addressOfFile(api, token, fileId, signal);
  let response: Response;
  try {
    response = await fetch(`${apiRoot}/file/bot${token}/${address}`, { signal, redirect: "error" });
  } catch (error) {
    throw new DeliveryError("not_sent", `Telegram's file cannot be reached (${failureOf(error, token).description})`);
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    const retryAfterMs = Number(response.headers.get("retry-after") ?? "0") * 1_000;
    throw new DeliveryError(
      "not_sent",
      `Telegram does not give the file (${response.status})`,
      retryAfterMs > 0 ? { retryAfterMs } : {},
    );
  }
  return readAll(response.body, token);
}

async function addressOfFile(api: Api, token: string, fileId: string, signal: AbortSignal): Promise<string> {
  let path: string | undefined;
  try {
    ({ file_path: path } = await api.getFile(fileId, grammySignal(signal)));
  } catch (error) {
    const failure = failureOf(error, token);
    if (failure.kind !== "answered") {
      throw new DeliveryError("not_sent", `Telegram cannot be reached (${failure.description})`);
    }
    const { code, description, retryAfterMs } = failure;
    if (/file is too big/i.test(description)) {
      throw new DeliveryError("rejected", "Telegram gives bots only files of up to 20 MB");
    }
    // A wrong token may be fixed later. Telegram answers 400 for files that its servers lack temporarily.
    const passes =
      code === 429 || code >= 500 || code === 401 || code === 404 || /temporarily unavailable/i.test(description);
    throw new DeliveryError(
      passes ? "not_sent" : "rejected",
      `Telegram does not give the file: ${description}`,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
  const address = path === undefined ? undefined : addressOf(path);
  if (address !== undefined) return address;
  throw new DeliveryError(
    "rejected",
    "Telegram names no address for the file: a Bot API server of your own must not run with --local",
  );
}

async function* readAll(body: AsyncIterable<Uint8Array>, token: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new DeliveryError("not_sent", `the file broke off (${failureOf(error, token).description})`);
  }
}

import type { Api } from "grammy";
import { DeliveryError } from "#channels/errors.ts";
import { failureOf } from "./errors.ts";
import { grammySignal } from "./client.ts";

/**
 * The way to a file below the bot's own folder, as it can stand in an address; undefined for any other. What stands behind
 * the last dot is the customer's, whatever signs it has.
 */
function addressOf(path: string): string | undefined {
  const names = path.split("/");
  const isBelow = path.isWellFormed() && names.every((name) => !/^\.{0,2}$|[\\\p{Cc}]/u.test(name));
  return isBelow ? names.map((name) => encodeURIComponent(name)).join("/") : undefined;
}

/**
 * The bytes of a file that Telegram keeps. The token stands in the address of the file, so neither the address nor an error
 * that could hold it leaves this function.
 */
export async function fetchTelegramFile(
  api: Api,
  apiRoot: string,
  token: string,
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
    // A token that is wrong now may be mended. Of a file that its servers do not have just now Telegram says 400.
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

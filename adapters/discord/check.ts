import { ApplicationFlags, Routes } from "discord.js";
import Type from "typebox";
import { Value } from "typebox/value";
import { operatorError } from "./errors.ts";
import type { Calls } from "./client.ts";

const userSchema = Type.Object({ username: Type.String() });
const applicationSchema = Type.Object({ flags: Type.Optional(Type.Integer()) });

/** Returns the bot's name and what it serves. Throws with an instruction if the token or the intents are wrong. */
export async function checkBot(calls: Calls, guilds: "off" | "threads", signal: AbortSignal): Promise<string> {
  const user = await explained(() => calls.get(Routes.user(), signal));
  if (!Value.Check(userSchema, user)) throw new Error("the server at `base_url` is not Discord");
  const name = `@${user.username}`;
  const on = await explained(() => calls.get(Routes.userGuilds(), signal, new URLSearchParams({ limit: "1" })));
  const alone =
    Array.isArray(on) && on.length === 0
      ? "; it is on no server yet, and only who shares one with it can write to it: add it by an address of the page OAuth2"
      : "";
  if (guilds === "off") return `${name}, direct messages${alone}`;
  const application = await explained(() => calls.get(Routes.currentApplication(), signal));
  const flags = Value.Check(applicationSchema, application) ? (application.flags ?? 0) : 0;
  if ((flags & (ApplicationFlags.GatewayMessageContent | ApplicationFlags.GatewayMessageContentLimited)) === 0) {
    throw new Error(
      `${name} may not read what is written on servers: switch on Message Content Intent on the page Bot of the developer portal, or set guilds: off`,
    );
  }
  return `${name}, direct messages and threads${alone}`;
}

async function explained(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    throw operatorError(error);
  }
}

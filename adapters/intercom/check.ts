import type { ChannelHost } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Api } from "./client.ts";
import { deliveredKey } from "./webhook.ts";
import { missedKey } from "./connection.ts";
import type { Assignee, Settings } from "./config.ts";

const dayMs = 86_400_000;

/** Returns the workspace, the teammate and how deliveries arrive. Throws an Error that names the fix. */
export async function checkWorkspace(
  api: Api,
  { appId, adminId, handoverTo, region }: Settings,
  host: Pick<ChannelHost, "webhookUrl" | "state" | "clock">,
  signal: AbortSignal,
): Promise<string> {
  const me = await api
    .call((client) => client.admins.identify({ abortSignal: signal }))
    .catch((error: unknown) => {
      throw unreachable(error);
    });
  // The SDK does not validate answers: a proxy's page would pass as one.
  if (typeof me?.id !== "string") {
    throw new Error("the answer is not Intercom's: check `base_url`, and whether a proxy is in between");
  }
  const { app } = me;
  const name = app?.name ?? appId;
  if (app?.id_code !== undefined && app.id_code !== appId) {
    throw new Error(
      `the access token is of the workspace ${name} (${app.id_code}), and \`app_id\` is ${appId}: take both from the same workspace`,
    );
  }
  if (app?.region !== undefined && app.region.toLowerCase() !== region) {
    throw new Error(`the workspace ${name} is hosted in ${app.region}: set \`region: ${app.region.toLowerCase()}\``);
  }
  const admin = await findAdmin(api, adminId, name, signal);
  for (const assignee of handoverTo) await requireAssignee(api, assignee, name, signal);
  const summary = `${name}, as ${admin}; ${await deliveries(host)}`;
  return app?.identity_verification === true
    ? summary
    : `${summary}; the workspace does not verify identities, so all customers are taken as unverified`;
}

/** Adds the fix to connection failures. */
function unreachable(error: unknown): unknown {
  const isAway = error instanceof DeliveryError && /cannot be reached|broke/.test(error.message);
  return isAway
    ? new Error(`${error.message}: check that this machine may connect to api.intercom.io, or to \`base_url\``)
    : error;
}

async function findAdmin(api: Api, adminId: string, workspace: string, signal: AbortSignal): Promise<string> {
  let found: { readonly name?: string; readonly has_inbox_seat?: boolean } | null | undefined;
  try {
    found = await api.call((client) => client.admins.find({ admin_id: Number(adminId) }, { abortSignal: signal }));
  } catch (error) {
    if (!(error instanceof DeliveryError) || error.outcome !== "rejected") throw error;
  }
  if (found === undefined || found === null) {
    throw new Error(
      `there is no teammate ${adminId} in ${workspace}: set \`admin_id\` to the number at the end of the teammate's address in Settings, Teammates`,
    );
  }
  if (found.has_inbox_seat === false) {
    throw new Error(
      `the teammate ${found.name ?? adminId} has no seat in the inbox of ${workspace}, and cannot reply: give them one in Settings, Teammates`,
    );
  }
  return found.name ?? adminId;
}

async function requireAssignee(
  api: Api,
  { type, id }: Assignee,
  workspace: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    const found = await (type === "team"
      ? api.call<unknown>((client) => client.teams.find({ team_id: id }, { abortSignal: signal }))
      : api.call<unknown>((client) => client.admins.find({ admin_id: Number(id) }, { abortSignal: signal })));
    if (found !== null && found !== undefined) return;
  } catch (error) {
    if (!(error instanceof DeliveryError) || error.outcome !== "rejected") throw error;
  }
  const what = type === "team" ? "team" : "teammate";
  throw new Error(
    `there is no ${what} ${id} in ${workspace}: set \`handover_to_${type}\` to the number at the end of the ${what}'s address in Settings, ${type === "team" ? "Teams" : "Teammates"}`,
  );
}

/** Intercom's API does not show the webhook's address, so the latest delivery is the only evidence. */
async function deliveries({ webhookUrl, state, clock }: Pick<ChannelHost, "webhookUrl" | "state" | "clock">) {
  if (!webhookUrl.startsWith("https://")) {
    return "Intercom is asked every 15 seconds, for it delivers to https addresses only: set PUBLIC_URL to have messages at once";
  }
  const delivered = Number((await state.get(deliveredKey)) ?? 0);
  const missed = Number((await state.get(missedKey)) ?? 0);
  if (delivered === 0) {
    return `nothing was delivered yet: enter ${webhookUrl} in the Developer Hub, page Webhooks, with the topics of adapters/intercom/README.md. Until then Intercom is asked every minute`;
  }
  if (missed > delivered && clock.now() - missed < dayMs) {
    return `messages came that were not delivered, the last of them at ${new Date(missed).toISOString()}: see the page Webhooks in the Developer Hub, whether ${webhookUrl} is live there with all topics of adapters/intercom/README.md`;
  }
  return `delivered last at ${new Date(delivered).toISOString()}`;
}

import { parseInstant } from "#domain/instant.ts";
import { systemClock as clock } from "#runtime/clock.ts";
import { replayEvent, replayRange, testWebhook } from "#admin/webhooks/replay.ts";
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhook,
  webhookDeliveries,
} from "#admin/webhooks/webhooks.ts";
import { UsageError, readArguments } from "./terminal/arguments.ts";
import type { Command } from "./command.ts";
import { withServices } from "./with-services.ts";
import { bold, green, red, table } from "./terminal/output.ts";

/** The command's only argument: an endpoint's id. */
function idOf(argv: readonly string[], command: string): string {
  const [id, ...more] = readArguments(argv, []).words;
  if (id === undefined || more.length > 0) throw new UsageError(`use: parley webhook ${command} ID`);
  return id;
}

function listOf(given: string | undefined): readonly string[] | undefined {
  return given
    ?.split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

export const webhookAdd: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "url", "events"]);
  const webhook = {
    workspaceId: given.required("workspace"),
    url: given.required("url"),
    events: listOf(given.optional("events")),
  };
  return withServices(config, async ({ store, secrets }) => {
    const allowPrivate = config.file.allowPrivate ?? false;
    const added = await addWebhook({ store, clock, secrets, allowPrivate }, webhook);
    output.result(added, [
      `Added ${bold(added.id)}: ${added.events.join(", ")}`,
      `Secret: ${added.secret}`,
      "The secret is shown only now. Your server needs it to verify the requests.",
      `Next: parley webhook test ${added.id}`,
    ]);
    return 0;
  });
};

export const webhookList: Command = ({ argv, output, config }) => {
  const workspaceId = readArguments(argv, ["workspace"]).optional("workspace");
  return withServices(config, async ({ store }) => {
    const rows = await listWebhooks(store, workspaceId);
    output.result(
      rows,
      table(
        ["id", "url", "events", "state", "waiting", "why"],
        rows.map((row) => [
          row.id,
          row.url,
          row.events.length,
          row.state,
          row.waiting,
          row.disabled_reason ?? (row.failing_since === null ? "" : `failing since ${row.failing_since}`),
        ]),
      ),
    );
    return 0;
  });
};

export const webhookRemove: Command = ({ argv, output, config }) => {
  const id = idOf(argv, "remove");
  return withServices(config, async ({ store }) => {
    await removeWebhook(store, clock, id);
    output.result({ id, removed: true }, [`Removed ${id}. Nothing more is sent to it.`]);
    return 0;
  });
};

export const webhookDisable: Command = ({ argv, output, config }) => {
  const id = idOf(argv, "disable");
  return withServices(config, async ({ store }) => {
    await disableWebhook(store, clock, id);
    output.result({ id, state: "disabled" }, [
      `Disabled ${id}. Events are kept for 30 days; after "webhook enable" they can be replayed.`,
    ]);
    return 0;
  });
};

export const webhookEnable: Command = ({ argv, output, config }) => {
  const id = idOf(argv, "enable");
  return withServices(config, async ({ store }) => {
    await enableWebhook(store, clock, id);
    output.result({ id, state: "enabled" }, [
      `Enabled ${id}.`,
      `To send the missed events: parley webhook replay ${id} --failed`,
    ]);
    return 0;
  });
};

export const webhookRotate: Command = ({ argv, output, config }) => {
  const id = idOf(argv, "rotate");
  return withServices(config, async ({ store, secrets }) => {
    const { secret, previousUntil } = await rotateWebhook({ store, clock, secrets }, id);
    output.result({ id, secret, previous_until: previousUntil }, [
      `New secret: ${secret}`,
      `It is shown only now. Until ${previousUntil} requests are signed with the previous secret as well.`,
    ]);
    return 0;
  });
};

export const webhookTest: Command = ({ argv, output, config }) => {
  const id = idOf(argv, "test");
  return withServices(config, async ({ store, secrets, guardedFetch }) => {
    const open = (sealed: string): string => secrets.open(sealed);
    const { eventId, delivered, status, error, durationMs, response } = await testWebhook(
      { store, clock, guardedFetch, open },
      id,
    );
    output.result({ id, event_id: eventId, delivered, status, error, duration_ms: durationMs, response }, [
      delivered
        ? `${green("✓")} the endpoint answered ${status} in ${durationMs} ms`
        : `${red("✗")} ${error ?? "not delivered"}`,
    ]);
    return delivered ? 0 : 1;
  });
};

export const webhookDeliveriesList: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "event", "limit"], ["failed"]);
  const [endpointId, ...more] = given.words;
  if (more.length > 0) throw new UsageError("use: parley webhook deliveries [ID]");
  const limit = given.number("limit") ?? 50;
  if (limit < 1 || limit > 10_000) throw new UsageError("--limit is 1 to 10000");
  const filter = {
    endpointId,
    workspaceId: given.optional("workspace"),
    eventId: given.optional("event"),
    failed: given.flag("failed"),
    limit,
  };
  return withServices(config, async ({ store }) => {
    const rows = await webhookDeliveries(store, filter);
    output.result(
      rows,
      table(
        ["at", "event", "type", "attempt", "outcome", "response", "ms", "next attempt"],
        rows.map((row) => [
          row.at,
          row.event_id,
          row.type,
          row.attempt,
          row.outcome,
          row.error ?? row.status,
          row.duration_ms,
          row.next_at,
        ]),
      ),
    );
    return 0;
  });
};

function timeOf(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const at = parseInstant(given);
  if (at === undefined) throw new UsageError(`--${name} takes a time such as 2027-01-31T00:00:00Z`);
  return at;
}

export const webhookReplay: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["event", "since", "until"], ["failed"]);
  // The prefix of an id shows its kind.
  const eventId = given.optional("event") ?? given.words.find((word) => word.startsWith("evt_"));
  const endpointId = given.words.find((word) => !word.startsWith("evt_"));
  const since = timeOf("since", given.optional("since"));
  const until = timeOf("until", given.optional("until"));
  const failed = given.flag("failed");
  return withServices(config, async ({ store }) => {
    if (eventId !== undefined) {
      const endpoints = await replayEvent(store, clock, eventId, endpointId);
      output.result({ queued: 1, event_id: eventId, endpoints }, [`Sending ${eventId} to ${endpoints.join(", ")}.`]);
      return 0;
    }
    if (endpointId === undefined || (since === undefined && !failed)) {
      throw new UsageError(
        "use: parley webhook replay EVENT_ID [ID], or parley webhook replay ID --failed or --since TIME [--until TIME]",
      );
    }
    const queued = await replayRange(store, clock, endpointId, { since, until, failed });
    output.result({ queued, endpoints: [endpointId] }, [`Sending ${queued} events to ${endpointId}.`]);
    return 0;
  });
};

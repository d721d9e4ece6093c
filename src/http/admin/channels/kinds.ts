import { Type } from "typebox";
import type { ChannelSettings } from "#admin/channels/account-settings.ts";
import { begunInstall } from "#admin/channels/installs.ts";
import { safeTree } from "#channels/text/markdown.ts";
import { Problem } from "#domain/problem.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { ChannelKind } from "#http/dependencies.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { publicAddress, setupFiles } from "./schemas.ts";

const listed = {
  channel: schemas.channel,
  provider: schemas.nullable(
    Type.String({ description: "The setting `provider` of such an account. Null: the channel has one provider" }),
  ),
  label: Type.String(),
  public_address: publicAddress,
};

const listSchema = {
  tags: ["Administration"],
  operationId: "listChannelKinds",
  summary: "List the channels that can be connected",
  response: adminResponses(
    { 200: Type.Object({ kinds: Type.Array(Type.Object(listed)) }, { title: "ChannelKindList" }) },
    [],
  ),
};

const installForm = Type.Object(
  {
    label: Type.String(),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: "JSON schema of the app's settings" }),
    redirect_url: Type.String({ description: "For the platform's list of permitted redirect URLs" }),
    settings: Type.Record(Type.String(), Type.Unknown(), {
      description: "Those of your installation that is not finished, without secrets",
    }),
    secrets_set: Type.Array(Type.String(), { description: "Names of its secrets that are stored" }),
  },
  { description: "The platform's own page connects an account, `POST /admin/v1/channels/kinds/{channel}/install`" },
);

const newAccount = Type.Object(
  {
    id: Type.String({ description: "The `id` to connect the account with" }),
    webhook_url: Type.String({ description: "The address at which that account will take deliveries" }),
  },
  {
    description:
      "Made anew for each answer, and stored only when an account is connected. Null: the administrator enters no address at the platform",
  },
);

const getSchema = {
  tags: ["Administration"],
  operationId: "getChannelKind",
  summary: "Read the settings of a channel, and how an account is connected",
  params: Type.Object({ channel: Type.String() }),
  querystring: Type.Object({
    provider: Type.Optional(Type.String({ description: "One of the channel's. Absent: its first one" })),
  }),
  response: adminResponses(
    {
      200: Type.Object(
        {
          ...listed,
          schema: Type.Record(Type.String(), Type.Unknown(), { description: "JSON schema of the settings" }),
          secrets: Type.Array(Type.String(), { description: "Settings that are stored encrypted and never shown" }),
          steps: Type.String({ description: "How an account is connected, in Markdown" }),
          step_blocks: Type.Array(Type.Unknown(), { description: "The same, parsed for the dashboard" }),
          setup_files: setupFiles,
          new_account: schemas.nullable(newAccount),
          install: schemas.nullable(installForm),
        },
        { title: "ChannelKind" },
      ),
    },
    [],
  ),
};

type Needed = Pick<Resources, "channelAccounts" | "store" | "secrets">;

export function channelKindRoutes(app: App, { channelAccounts, store, secrets }: Needed): void {
  app.get("/channels/kinds", { schema: listSchema }, async () => ({
    kinds: channelAccounts.kinds().map(({ publicAddress: of, ...kind }) => ({ ...kind, public_address: of })),
  }));

  app.get("/channels/kinds/:channel", { schema: getSchema }, async (request) => {
    const kind = await channelAccounts.kind(request.params.channel, request.query.provider);
    if (kind === undefined) throw new Problem("not_found", "There is no such channel to connect.");
    const { publicAddress: of, setupFiles: files, newAccount: fresh, install, ...rest } = kind;
    const { agentId } = administratorOf(request);
    return {
      ...rest,
      step_blocks: safeTree(rest.steps),
      public_address: of,
      setup_files: files,
      new_account: fresh === null ? null : { id: fresh.id, webhook_url: fresh.webhookUrl },
      install:
        install === null
          ? null
          : shownInstall(kind, install, await begunInstall(store.read, secrets, agentId, kind.channel)),
    };
  });
}

function shownInstall(
  { secrets }: Pick<ChannelKind, "secrets">,
  { redirectUrl, ...install }: NonNullable<ChannelKind["install"]>,
  begun: ChannelSettings,
) {
  const isSecret = (name: string): boolean => secrets.includes(name);
  return {
    ...install,
    redirect_url: redirectUrl,
    settings: Object.fromEntries(Object.entries(begun).filter(([name]) => !isSecret(name))),
    secrets_set: Object.keys(begun).filter(isSecret),
  };
}

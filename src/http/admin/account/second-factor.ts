import { Type } from "typebox";
import { readWorkspace } from "#database/queries/workspaces.ts";
import { Problem } from "#domain/problem.ts";
import { requireAgent } from "#admin/team/agents.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  hasSecondFactor,
  recoveryCodesLeft,
  removeSecondFactor,
  renewRecoveryCodes,
} from "#admin/sign-in/second-factor.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { countAttempt } from "#http/sign-in/attempts.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { own, ownAccountOf, requireGivenPassword } from "./own.ts";
import { password } from "./profile.ts";

const tags = ["Administration"];
const withPassword = Type.Object({ password: Type.Optional(password) }, { title: "OwnPassword" });
const guessed = [...schemas.withBody, "too_many_attempts"] as const;
const recoveryCodes = Type.Object(
  { recovery_codes: Type.Array(Type.String(), { description: "Shown once; each signs in once" }) },
  { title: "RecoveryCodes" },
);

const readSchema = {
  tags,
  operationId: "readSecondFactor",
  summary: "Whether your second factor is on",
  response: adminResponses(
    {
      200: Type.Object(
        { on: Type.Boolean(), has_password: Type.Boolean(), recovery_codes_left: Type.Integer() },
        { title: "SecondFactor" },
      ),
    },
    [],
  ),
};

const beginSchema = {
  tags,
  operationId: "beginSecondFactor",
  summary: "Make a secret for an authenticator app. The second factor is on once its first code is confirmed",
  body: withPassword,
  response: adminResponses(
    {
      200: Type.Object(
        {
          secret: Type.String({ description: "Base32, to type in" }),
          uri: Type.String({ description: "An otpauth:// address" }),
          qr_svg: Type.String({ description: "The address as a QR code" }),
          setup: Type.String({ description: "To send with the first code, within 30 minutes" }),
        },
        { title: "SecondFactorSetup" },
      ),
    },
    guessed,
  ),
};

const confirmSchema = {
  tags,
  operationId: "confirmSecondFactor",
  summary: "Turn the second factor on by its first code",
  body: Type.Object(
    { setup: Type.String({ maxLength: 1_000 }), code: Type.String({ maxLength: 30 }) },
    { title: "SecondFactorCode" },
  ),
  response: adminResponses({ 200: recoveryCodes }, guessed),
};

const renewSchema = {
  tags,
  operationId: "renewRecoveryCodes",
  summary: "Replace your recovery codes",
  body: withPassword,
  response: adminResponses({ 200: recoveryCodes }, guessed),
};

const removeSchema = {
  tags,
  operationId: "removeSecondFactor",
  summary: "Turn your second factor off",
  body: withPassword,
  response: adminResponses({ 204: schemas.noContent }, guessed),
};

const resetSchema = {
  tags,
  operationId: "resetSecondFactor",
  summary: "Turn the second factor of an agent off, who lost it",
  params: Type.Object({ id: Type.String() }),
  response: adminResponses({ 204: schemas.noContent }, []),
};

/** An agent's second factor, and the way back for a colleague who lost it. */
export function secondFactorRoutes(app: App, resources: Resources): void {
  const { store, clock, secrets } = resources;

  app.get("/me/second-factor", { config: own, schema: readSchema }, async (request) => {
    const { agentId } = ownAccountOf(request);
    const agents = store.read.selectFrom("agents").select("password").where("id", "=", agentId);
    const { password: stored } = await agents.executeTakeFirstOrThrow();
    return {
      on: await hasSecondFactor(store.read, agentId),
      has_password: stored !== null,
      recovery_codes_left: await recoveryCodesLeft(store.read, agentId),
    };
  });

  app.post("/me/second-factor", { config: own, schema: beginSchema }, async (request) => {
    const account = ownAccountOf(request);
    await requireGivenPassword(resources, request, account, request.body.password);
    const workspace = await readWorkspace(store.read, account.workspaceId);
    const made = beginSecondFactor({ clock, secrets }, account, workspace?.name ?? "Parley");
    // Loaded here, because few requests draw a code.
    const { renderSVG } = await import("uqr");
    return { ...made, qr_svg: renderSVG(made.uri, { border: 2 }) };
  });

  app.post("/me/second-factor/confirm", { config: own, schema: confirmSchema }, async (request) => {
    const account = ownAccountOf(request);
    const attempt = await countAttempt(store, clock, request.remoteAddress, account.agentId, "code");
    const codes = await confirmSecondFactor({ store, clock, secrets }, account, request.body);
    await attempt.succeeded();
    return { recovery_codes: codes };
  });

  app.post("/me/second-factor/recovery-codes", { config: own, schema: renewSchema }, async (request) => {
    const account = ownAccountOf(request);
    await requireGivenPassword(resources, request, account, request.body.password);
    return { recovery_codes: await renewRecoveryCodes({ store, clock, secrets }, account) };
  });

  app.post("/me/second-factor/remove", { config: own, schema: removeSchema }, async (request, reply) => {
    const account = ownAccountOf(request);
    await requireGivenPassword(resources, request, account, request.body.password);
    await store.write((tx) => removeSecondFactor(tx, account, clock.now()));
    return reply.code(204).send();
  });

  app.delete("/agents/:id/second-factor", { schema: resetSchema }, async (request, reply) => {
    const { workspaceId, actor, agentId } = administratorOf(request);
    // Their own needs the password.
    if (request.params.id === agentId) {
      throw new Problem("invalid_parameter", "Turn your own second factor off on the page of your account.");
    }
    await store.write(async (tx) => {
      const { id, email } = await requireAgent(tx, workspaceId, request.params.id);
      await removeSecondFactor(tx, { agentId: id, email, workspaceId, actor }, clock.now());
    });
    return reply.code(204).send();
  });
}

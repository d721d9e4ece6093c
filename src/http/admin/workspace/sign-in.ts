import { Type } from "typebox";
import { readStored, requireOwn } from "#admin/settings/change.ts";
import { readSignInSettings, requireSecondFactor } from "#admin/sign-in/settings.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";

const fields = {
  second_factor_required: Type.Boolean({ description: "Of agents who sign in by password or link" }),
};
const settings = Type.Object(
  { ...fields, managed_by_file: Type.Boolean({ description: "The configuration file declares it" }) },
  { title: "SignInSettings" },
);

const readSchema = {
  tags: ["Administration"],
  operationId: "readSignInSettings",
  summary: "Read how the agents of the workspace sign in",
  response: adminResponses({ 200: settings }, []),
};

const changeSchema = {
  tags: ["Administration"],
  operationId: "changeSignInSettings",
  summary: "Change how the agents of the workspace sign in",
  body: Type.Object(fields, { title: "SignInSettingsChange" }),
  response: adminResponses({ 200: settings }, [...schemas.withBody, "managed_by_file"]),
};

/** How the agents of the workspace sign in. */
export function signInSettingsRoutes(app: App, { store, clock }: Resources): void {
  app.get("/sign-in", { schema: readSchema }, async (request) => {
    const { workspaceId } = administratorOf(request);
    const { secondFactorRequired } = await readSignInSettings(store.read, workspaceId);
    const { declared } = await readStored(store.read, workspaceId);
    return { second_factor_required: secondFactorRequired, managed_by_file: declared.has("secondFactorRequired") };
  });

  app.put("/sign-in", { schema: changeSchema }, async (request) => {
    const { workspaceId, actor: by } = administratorOf(request);
    const { second_factor_required: next } = request.body;
    await store.write(async (tx) => {
      requireOwn(await readStored(tx, workspaceId), "secondFactorRequired", "second_factor_required");
      await requireSecondFactor(tx, { workspaceId, by, now: clock.now() }, next);
    });
    return { second_factor_required: next, managed_by_file: false };
  });
}

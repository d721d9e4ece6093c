import { Type } from "typebox";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const encoder = Type.Object(
  {
    model: Type.String(),
    dimensions: Type.Integer(),
    prefixes: Type.String({ description: "What comes before texts: none, or the name of a convention, such as e5" }),
    separation: schemas.nullable(
      Type.Number({
        description: "Share of related passages that are nearer than unrelated ones; null: too few passages",
      }),
    ),
    fit: Type.Boolean({ description: "False: its vectors are not used" }),
    calibrated_at: schemas.time,
  },
  { title: "Encoder" },
);

const schema = {
  tags: ["Administration"],
  operationId: "readEncoder",
  summary: "Read what is known about the model of the embedding server",
  response: adminResponses({ 200: Type.Object({ encoder: schemas.nullable(encoder) }, { title: "EncoderState" }) }, []),
};

export function encoderRoutes(app: App, { encoderReport }: Resources): void {
  app.get("/documents/encoder", { config: { least: "viewer" }, schema }, async (request) => {
    const report = await encoderReport(administratorOf(request).workspaceId);
    return { encoder: report && { ...report, calibrated_at: new Date(report.calibrated_at).toISOString() } };
  });
}

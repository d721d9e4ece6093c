import { Type } from "typebox";

export const audiencesSchema = Type.Record(
  Type.String({ minLength: 1, maxLength: 64 }),
  Type.Record(
    Type.String({ minLength: 1, maxLength: 64 }),
    Type.Array(Type.Union([Type.String({ maxLength: 190 }), Type.Number(), Type.Boolean()]), {
      minItems: 1,
      maxItems: 100,
      description: "Accepted values of this attribute of a verified user.",
    }),
    { maxProperties: 20, description: "Attributes that a verified user must have to see documents of this tag." },
  ),
  { maxProperties: 200, description: "Rules by audience tag: who sees the documents with the tag." },
);

/** The stored form of a tag. */
export const tagOf = (tag: string): string => tag.trim().toLowerCase();

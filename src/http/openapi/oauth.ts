import type { TSchema } from "typebox";
import { Type } from "typebox";
import { authMethods } from "#http/v1/access/oauth.ts";

const clientFields = {
  client_id: Type.Optional(Type.String({ description: "Where the client does not authenticate by HTTP Basic" })),
  client_secret: Type.Optional(Type.String()),
};

const oauthError = Type.Object(
  {
    error: Type.Enum(["invalid_request", "invalid_client", "unsupported_grant_type"]),
    error_description: Type.String(),
  },
  { title: "OAuthError", description: "An error in the form of RFC 6749, section 5.2" },
);

const token = Type.Object(
  {
    access_token: Type.String({ description: "Send it in place of an API key" }),
    token_type: Type.Literal("Bearer"),
    expires_in: Type.Integer({ description: "Seconds" }),
  },
  { title: "OAuthToken" },
);

const methods = Type.Array(Type.Enum([...authMethods]));

const metadata = Type.Object(
  {
    issuer: Type.String(),
    token_endpoint: Type.String(),
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint: Type.String(),
    revocation_endpoint_auth_methods_supported: methods,
    grant_types_supported: Type.Array(Type.Literal("client_credentials")),
    response_types_supported: Type.Array(Type.String(), { description: "None: there is no authorization endpoint" }),
    service_documentation: Type.String(),
  },
  { title: "OAuthMetadata" },
);

const json = (description: string, schema: TSchema) => ({ description, content: { "application/json": { schema } } });

const posted = (operationId: string, summary: string, form: TSchema, success: object) => ({
  post: {
    operationId,
    summary,
    tags: ["OAuth"],
    security: [{ oauthClient: [] }, {}],
    requestBody: { required: true, content: { "application/x-www-form-urlencoded": { schema: form } } },
    responses: {
      200: success,
      400: json("`invalid_request`, `unsupported_grant_type`", oauthError),
      401: json("`invalid_client`", oauthError),
    },
  },
});

/** The paths of OAuth. Their forms and errors are those of the RFCs, which the routes' schemas cannot say. */
export const describeOAuth = () => ({
  "/oauth/token": posted(
    "issueToken",
    "Get an access token for the credentials of a client (RFC 6749, section 4.4)",
    Type.Object({ grant_type: Type.Literal("client_credentials"), ...clientFields }, { title: "OAuthTokenRequest" }),
    json("Success", token),
  ),
  "/oauth/revoke": posted(
    "revokeToken",
    "Revoke an access token of the client (RFC 7009)",
    Type.Object({ token: Type.String(), ...clientFields }, { title: "OAuthRevocation" }),
    { description: "Revoked, or never a token of this client" },
  ),
  "/.well-known/oauth-authorization-server": {
    get: {
      operationId: "readOAuthMetadata",
      summary: "Read where tokens are issued and revoked (RFC 8414)",
      tags: ["OAuth"],
      security: [],
      responses: { 200: json("Success", metadata) },
    },
  },
});

/** Every `code` of an API error, and its HTTP status. The contract's table, with additions at the end. */
export const problemStatus = {
  missing_field: 400,
  invalid_workspace_id: 400,
  message_too_long: 400,
  invalid_json: 400,
  missing_auth: 401,
  malformed_auth: 401,
  invalid_key: 401,
  expired_key: 401,
  workspace_access_denied: 403,
  feature_not_in_plan: 403,
  verification_required: 403,
  workspace_not_found: 404,
  conversation_not_found: 404,
  document_not_found: 404,
  plan_downgrade_blocked: 409,
  duplicate_request_id: 409,
  invalid_top_k: 422,
  invalid_temperature: 422,
  invalid_strictness: 422,
  invalid_audience: 422,
  rate_limit_minute: 429,
  rate_limit_day: 429,
  quota_exhausted: 429,
  internal_error: 500,
  model_provider_error: 500,
  upstream_timeout: 503,
  deploying: 503,
  provider_down: 503,
  not_found: 404,
  method_not_allowed: 405,
  invalid_transition: 409,
  not_a_website: 409,
  invalid_parameter: 422,
  invalid_cursor: 422,
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_concurrent_requests: 429,
  request_timeout: 408,
  overloaded: 503,
  storage_full: 507,
  query_timeout: 504,
  search_unavailable: 503,
  signed_out: 401,
  cross_site: 403,
  insufficient_role: 403,
  insufficient_scope: 403,
  managed_by_file: 409,
  already_exists: 409,
  edit_conflict: 409,
  not_editable: 409,
  last_admin: 409,
  too_many_attempts: 429,
  second_factor_required: 403,
  channel_refused: 409,
} as const;

export type ProblemCode = keyof typeof problemStatus;

/** A failure that the caller can act on. `detail` is shown to the caller: it must not hold a secret or internal name. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly retryAfterS: number | undefined;

  constructor(
    code: ProblemCode,
    detail: string,
    options: { readonly retryAfterS?: number; readonly cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Problem";
    this.code = code;
    this.retryAfterS = options.retryAfterS;
  }

  get status(): number {
    return problemStatus[this.code];
  }
}

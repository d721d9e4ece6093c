import type { Generated } from "kysely";

/** The reports of a workspace: the counts of one name on one day or in one month. */
export interface ReportCountsTable {
  workspace_id: string;
  dimension: string;
  /** `day`, `month`, or `deleted`: the part of a day's counts whose conversations are deleted. */
  period: string;
  /** Days since 1970 of the date in the workspace's time zone; of a month, its first day. */
  day: number;
  /** Empty: names without a row of their own. */
  name: string;
  /** JSON: counts by metric. */
  counts: string;
}

/** Increments of one transaction that are not added to the counts yet. */
export interface ReportChangesTable {
  id: Generated<number>;
  workspace_id: string;
  /** JSON: [dimension, day, name, metric, value] each. */
  changes: string;
  /** 1: the conversations are deleted, and were counted before. */
  deleted: number;
}

import type { ComponentChildren } from "preact";
import type { Shape } from "#web/shared/ui/elements.tsx";

export type Role = "admin" | "agent" | "viewer";

/** Groups of the menu, in its order. */
export const groups = ["Overview", "Knowledge", "Channels", "Work", "Insight", "Workspace"] as const;

/** A page of the dashboard. */
export interface DashboardPage {
  /** The part of the address after `/dashboard/`; empty for the overview. */
  readonly path: string;
  readonly label: string;
  /** One sentence that says what the page is for. */
  readonly about: string;
  readonly group: (typeof groups)[number];
  readonly icon: Shape;
  /** Roles that see the page. */
  readonly roles: readonly Role[];
  /** Roles that may change what the page shows. Default: administrators. For others its forms are read-only. */
  readonly writers?: readonly Role[];
  /** `id`: the part of the address after the page's path. */
  readonly render: (id: string | undefined) => ComponentChildren;
}

import { inject } from "vitest";

export type ServerState =
  | { readonly url: string; readonly reason?: undefined }
  | { readonly url?: undefined; readonly reason: string };

declare module "vitest" {
  interface ProvidedContext {
    mysql: ServerState;
    redis: ServerState;
  }
}

/** The MySQL or MariaDB server of this test run: started by the global setup, or named in `TEST_MYSQL_URL`. */
export function mysqlServer(): ServerState {
  return inject("mysql");
}

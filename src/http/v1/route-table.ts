import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { App } from "#http/app-type.ts";
import { MethodNotAllowed } from "#http/problem.ts";
import { pathOf } from "./resources.ts";

/** The paths below /v1 with their methods, to answer other methods with 405. */
export interface RouteTable {
  /** The error for a request that no route matches: 404 or 405. */
  refusal(request: FastifyRequest): Problem;
  /** Throws for a path that is a route of its own with other methods, though it also matches a pattern. */
  requireMethod(request: FastifyRequest): void;
}

/** Call it before the routes are registered. */
export function createRouteTable(app: App): RouteTable {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll(/:[a-z_]+/g, "[^/]+")}$`);
    const route = routes.get(url) ?? { pattern, methods: new Set() };
    routes.set(url, route);
    for (const each of [method].flat()) route.methods.add(each);
  });

  return {
    refusal(request) {
      const path = pathOf(request);
      const { methods } = routes.get(path) ?? routes.values().find(({ pattern }) => pattern.test(path)) ?? {};
      // A path with bad URL encoding can match a pattern, but no route.
      if (methods === undefined || methods.has(request.method)) {
        return new Problem("not_found", "There is nothing at this path.");
      }
      return notAllowed(methods);
    },
    requireMethod(request) {
      // `GET /documents/upload` must not look for a document with the id `upload`.
      const methods = routes.get(pathOf(request))?.methods;
      if (methods?.has(request.method) === false) throw notAllowed(methods);
    },
  };
}

const notAllowed = (methods: ReadonlySet<string>): Problem => new MethodNotAllowed([...methods].toSorted().join(", "));

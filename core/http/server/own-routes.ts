/** Routes that the HTTP layer itself answers: probes and the OpenAPI document. */
import type { Problem } from '../../base/errors.js'
import { jsonObject, type JsonObject } from '../../base/schema.js'
import { httpErrors } from '../errors.js'
import { defineRoute, jsonReply, textReply, type Route } from '../routes/route.js'

/** Ready, or why not. */
export type Readiness = 'ready' | Problem

export const createOwnRoutes = ({
  readiness,
  document,
}: {
  readonly readiness: () => Readiness
  readonly document: () => JsonObject
}): Route[] => [
  defineRoute({
    id: 'health.live',
    method: 'GET',
    path: '/healthz',
    summary: 'Tells that the process answers.',
    access: 'public',
    withoutState: true,
    reply: textReply(),
    example: { reply: 'ok' },
    handler: () => 'ok',
  }),
  defineRoute({
    id: 'health.ready',
    method: 'GET',
    path: '/readyz',
    summary: 'Tells whether the daemon takes work.',
    access: 'public',
    withoutState: true,
    reply: textReply(),
    example: { reply: 'ready' },
    problems: [httpErrors.daemon_draining, httpErrors.daemon_starting, httpErrors.required_not_ready],
    handler: () => {
      const state = readiness()
      if (state !== 'ready') throw state
      return state
    },
  }),
  defineRoute({
    id: 'openapi.read',
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'This API as an OpenAPI 3.1 document, made from the routes.',
    access: 'read',
    withoutState: true,
    reply: jsonReply(jsonObject()),
    handler: () => document(),
  }),
]

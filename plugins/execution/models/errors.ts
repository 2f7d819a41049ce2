import { defineErrors, type Problem } from '../../../core/plugin.js'

export const modelErrors = defineErrors({
  bad_request: {
    status: 400,
    detail: 'This daemon has no model route {route_id}.',
    action: 'Use a route_id that GET /v1/runtime lists.',
  },
  route_ambiguous: {
    status: 400,
    domain: 'routes',
    detail: 'provider and route_id name two routes.',
    action: 'Name the route once.',
  },
  generation_unsupported: {
    status: 400,
    domain: 'routes',
    detail: 'The model route {route_id} cannot pass on the setting {setting}.',
    action: 'Leave the setting out, or use a route whose provider takes it.',
  },
  model_family_mismatch: {
    status: 400,
    domain: 'routes',
    detail: 'The model route {route_id} does not take models of this name.',
    action: 'Name a model of its provider, or set model_support = "any" for the route.',
  },
  api_key_env_missing: {
    status: 400,
    domain: 'routes',
    detail: 'The environment variable {name}, which {place} names, is not set or belongs to the daemon.',
    action:
      'Set it where the daemon is started and restart it, or do without it: a key can be a stored secret (auth_ref).',
  },
  route_not_ready: {
    status: 400,
    domain: 'routes',
    detail: 'The model route {route_id} is not ready: {reason}',
    action: 'See GET /v1/status for what to do about it.',
  },
})

const mostNamed = 10

/** A wish names a route that is not one of these. `path` is the field of the request. */
export const unknownRoute = (
  route_id: string,
  routes: readonly { readonly route_id: string }[],
  path = 'body.provider',
): Problem => {
  const known = routes.slice(0, mostNamed).map((route) => route.route_id)
  const more = routes.length > mostNamed ? ' and others' : ''
  return modelErrors.bad_request({
    details: { route_id },
    errors: [{ path, rule: `must be a route_id of this daemon: ${known.join(', ')}${more}` }],
  })
}

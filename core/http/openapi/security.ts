/** Who may call a route, as the OpenAPI document says it: none that has a check of its own looks open (http-44). */
import type { IngressScheme } from '../routes/route.js'
import type { Entry } from '../routes/table.js'

type Requirement = Readonly<Record<string, string[]>>

/** Of routes that do not say how their callers show who they are. */
const unnamed = 'ingress'

export const securityOf = ({ route, access }: Pick<Entry, 'route' | 'access'>): Requirement[] => {
  switch (access) {
    case 'public':
      return []
    case 'ingress':
      return [{ [route.scheme?.id ?? unnamed]: [] }]
    case 'read':
      return [{ admin: [] }, { read_only: [] }]
    case 'admin':
      return [{ admin: [] }]
  }
}

const describe = ({ header, description }: IngressScheme): Record<string, string> =>
  header.toLowerCase() === 'authorization'
    ? { type: 'http', scheme: 'bearer', description }
    : { type: 'apiKey', in: 'header', name: header, description }

const tokens = {
  admin: { type: 'http', scheme: 'bearer', description: 'The admin token: every route.' },
  read_only: { type: 'http', scheme: 'bearer', description: 'The read-only token: routes whose x-access is `read`.' },
}
const check = {
  type: 'http',
  scheme: 'bearer',
  description: 'A check of the route itself, which its plugin describes. No token of the daemon is one.',
}

/** Those of all routes, by id. */
export const securitySchemes = (entries: readonly Entry[]): Record<string, unknown> => {
  const own = entries.filter(({ access }) => access === 'ingress').map(({ route: { scheme } }) => scheme)
  const named = own.flatMap((scheme) => (scheme === undefined ? [] : [[scheme.id, describe(scheme)] as const]))
  const isUnnamed = own.includes(undefined)
  return {
    ...tokens,
    ...(isUnnamed && { [unnamed]: check }),
    ...Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** What a provider must be, member by member: a plugin that no compiler has checked may contribute anything. */
import {
  array,
  enums,
  hasMembers,
  json,
  literal,
  object,
  open,
  optional,
  parseOnce,
  rule,
  string,
} from '../../../../core/plugin.js'
import { routeCapabilityFields } from '../abilities/capabilities.js'
import { generationFeatures } from '../abilities/generation-features.js'
import { vendorOptionNames } from '../abilities/vendor-options.js'

const isHttp = (address: string): boolean =>
  URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol)

const text = string({ min: 1, max: 1_000 })
const words = array(string({ min: 1, max: 200 }), { max: 100 })
const callable = rule(json(), 'must be a function', (value) => typeof value === 'function')

const localServer = open({
  route_id: string({
    min: 1,
    max: 64,
    pattern: '^[\\w.-]+$',
    told: 'must be of letters, digits, dots, hyphens and underscores',
  }),
  name: text,
  base_url: rule(text, 'must be an http or https URL', isHttp),
})

const members = {
  summary: text,
  default_model: optional(string({ min: 1, max: 200, pattern: '^\\S+$', told: 'must be one word' })),
  capabilities: object(routeCapabilityFields),
  context: optional(literal('run')),
  generation: optional(array(enums(generationFeatures))),
  family: optional(open({ rule: text, has: callable })),
  searches: optional(callable),
  context_window: optional(callable),
  secrets_of: optional(words),
  key_variables: optional(words),
  vendor_options: optional(array(enums(vendorOptionNames))),
  local_servers: optional(array(localServer, { max: 100 })),
}
const Shape = object(members)

/** As far as it can be named: all else is looked at. */
interface Named {
  readonly id: string
}

const lacking = hasMembers<Named>('a model provider', { id: 'id', connect: 'function', capabilities: 'object' })

/** What is wrong with it, as the check of a point says it; undefined if nothing is. */
export const providerFault = (provider: Named): string | undefined => {
  const reason = lacking(provider)
  if (reason !== undefined) return reason
  // A member that its class has is one too.
  const found = Object.fromEntries(Object.keys(members).map((name) => [name, Reflect.get(provider, name)]))
  const nulls = Object.keys(members).filter((name) => found[name] === null)
  const shape = parseOnce(Shape, found)
  const issues = shape.ok ? [] : shape.issues.map(({ path, rule: broken }) => `${path} ${broken}`)
  const wrong = [...nulls.map((name) => `${name} must not be null`), ...issues]
  return wrong.length === 0 ? undefined : `the model provider ${provider.id} is wrong: ${wrong.join(', ')}`
}

/** The list of model routes that an operator keeps in a file, one table for each. */
import {
  array,
  boolean,
  defaulted,
  defineList,
  doc,
  enums,
  integer,
  literal,
  object,
  optional,
  string,
  type Infer,
  type ListSpec,
} from '../../../../core/plugin.js'
import { meantOf } from './route-words.js'

/** Values of headers and names in addresses. */
const word = (sentence: string) => optional(doc(string({ min: 1, max: 200, pattern: '^[A-Za-z0-9._-]+$' }), sentence))

const text = (sentence: string) => optional(doc(string({ min: 1, max: 4_096 }), sentence))

const ability = (sentence: string) =>
  optional(doc(boolean(), `${sentence} As the provider says when absent; false to do without.`))

const optIn = (sentence: string) => optional(doc(boolean(), `${sentence} Only where this is true.`))

const model = (sentence: string) => optional(doc(string({ min: 1, max: 200, pattern: '^\\S+$' }), sentence))

/** One route. Rules: docs/rules/models.md. */
export const RouteEntry = object({
  driver: doc(string({ min: 1, max: 64 }), 'Its provider, such as `openai_compatible`.'),
  default_model: optional(
    doc(
      string({ min: 1, max: 200, pattern: '^\\S+$' }),
      'Its model, where nobody wishes another; the default model of the provider when absent.',
    ),
  ),
  model_support: doc(
    defaulted(enums(['family', 'any']), 'family'),
    '`any` to take models of any name; else their names must be those of the provider.',
  ),
  base_url: text('Where the provider answers, for providers that have no address of their own.'),
  auth_ref: text('Stored secret that is the key.'),
  api_key: text('The key itself; better a stored secret.'),
  api_key_env: text('Environment variable of the daemon that holds the key.'),
  api_key_file: text('File that holds the key.'),
  organization: word('Who pays, of providers whose keys are of several organizations.'),
  organization_env: text('Environment variable of the daemon that holds the organization.'),
  project: word('The project that calls count for, of providers that have some.'),
  project_env: text('Environment variable of the daemon that holds the project.'),
  anthropic_version: word('The header `anthropic-version`; that of the configuration when absent.'),
  anthropic_beta_headers: optional(
    doc(
      array(string({ min: 1, max: 200, pattern: '^[A-Za-z0-9._-]+$' }), { max: 50 }),
      'What the header `anthropic-beta` names; that of the configuration when absent.',
    ),
  ),
  idle_timeout_ms: optional(
    doc(
      integer({ min: 100, max: 86_400_000 }),
      'Longest silence of the provider, milliseconds; that of the configuration when absent.',
    ),
  ),
  max_concurrent_calls: doc(
    defaulted(integer({ min: 0, max: 10_000 }), 0),
    'Calls under way at a time, the others wait for their turn; 0 is no limit.',
  ),
  context_window: optional(
    doc(
      integer({ min: 1_000, max: 100_000_000 }),
      'Tokens that one call may have, question and answer; what the provider knows of the model when absent.',
    ),
  ),
  multimodal_input: ability('Takes more than text.'),
  native_web_search: optIn('Its model searches the web by a tool of its vendor.'),
  image_generation: optIn('Makes images.'),
  image_edit: optIn('Edits images.'),
  audio_generation: optIn('Makes speech.'),
  transcription: optIn('Writes down speech.'),
  image_model: model('The model that makes and edits images; that of the provider when absent, else default_model.'),
  audio_model: model('The model that makes speech; that of the provider when absent, else default_model.'),
  transcription_model: model('The model that writes down speech; that of the provider when absent.'),
})
/** The value form of `RouteEntry`. */
export type RouteEntry = Infer<typeof RouteEntry>

/** What the file has beside its routes. */
export const RouteFile = object({
  version: optional(doc(literal(1), 'Of the form of the file.')),
  default_route: text('The route of runs without a wish of their own; needed where there are several.'),
})
/** The value form of `RouteFile`. */
export type RouteFile = Infer<typeof RouteFile>

/** Ways to say the same. */
const ways = [
  ['auth_ref', 'api_key', 'api_key_env', 'api_key_file'],
  ['organization', 'organization_env'],
  ['project', 'project_env'],
] as const

const keysFault = (entry: RouteEntry): string | undefined => {
  const given = ways.map((names) => names.filter((name) => entry[name] !== undefined))
  const faults = given.filter((names) => names.length > 1)
  if (faults.length === 0) return undefined
  return faults.map((names) => `may have one of ${names.join(' and ')}, not both`).join('; ')
}

/** Before every plugin is there nobody knows all drivers: a route of one that is not there is in error then. */
const driverFault = ({ driver }: RouteEntry, drivers: readonly string[]): string | undefined =>
  drivers.length === 0 || drivers.includes(driver)
    ? undefined
    : `driver is no model provider that is here${meantOf(driver, drivers)}`

/** `config/routes.toml`, or the file that is read in its place; `drivers` are those that are there, once known. */
export const routeList = (
  path?: string,
  drivers: () => readonly string[] = () => [],
): ListSpec<RouteEntry, RouteFile> =>
  defineList({
    file: 'routes',
    from: { flag: 'routes-file', path },
    table: 'routes',
    summary: 'Model routes: named ways to models, which runs can wish.',
    entry: RouteEntry,
    beside: RouteFile,
    fault: (_, entry) => keysFault(entry) ?? driverFault(entry, drivers()),
  })

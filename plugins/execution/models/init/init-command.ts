/** `init`: from what is on the machine to a model that answers. */
import {
  array,
  boolean,
  commandErrors,
  defineCommand,
  open,
  optional,
  parse,
  secretFlags,
  string,
  visibleLine,
  type CommandInput,
  type Dialogue,
  type NearDaemon,
} from '../../../../core/plugin.js'
import { findAll, findNamed, readProviders, type Candidate, type FoundKey } from './found.js'
import { checkText, type CheckedRoute } from './init-words.js'
import { hasRoute, withRoutes, type NewRoute } from './routes-text.js'

interface Chosen extends Candidate {
  readonly model: string | undefined
}

interface Done {
  readonly lines: readonly string[]
  readonly checks: readonly CheckedRoute[]
  /** True where nothing was to be done but told. */
  readonly planned: boolean
}

const file = 'routes'
const secretOf = (route_id: string): string => `models.${route_id}`

const isGiven = ({ flags }: CommandInput, ...names: readonly string[]): boolean =>
  names.some((name) => flags[name] !== undefined)

/** A key that was typed or piped has used standard input up. */
const isKeyGiven = (input: CommandInput): boolean => isGiven(input, ...Object.keys(secretFlags))

const givenKey = async (input: CommandInput): Promise<FoundKey | undefined> =>
  isKeyGiven(input) ? { value: await input.secret(), from: 'the given key' } : undefined

const modelFlag = ({ flags: { model } }: CommandInput): string | undefined =>
  typeof model === 'string' ? model : undefined

const describe = ({ route_id, because, models }: Candidate): string =>
  [`${route_id}: ${because}`, ...(models[0] === undefined ? [] : [`model ${models[0]}`])].map(visibleLine).join(', ')

const nothingFound =
  'Found no key and no model server. Set the variable of a provider, such as ANTHROPIC_API_KEY, or start a server ' +
  'such as Ollama, and try again; or name one: holdfast init --provider NAME --stdin, or --server URL --model NAME. ' +
  'Until then the demo model answers.'

/** One of several by number, the first by Enter. Undefined if the person leaves. */
const pick = async (dialogue: Dialogue, prompt: string, most: number): Promise<number | undefined> => {
  for (;;) {
    const said = await dialogue.hear(`${prompt} [1] `)
    if (said?.type !== 'text') return undefined
    const text = said.text.trim()
    if (text === '') return 0
    if (/^[1-9]\d*$/u.test(text) && Number(text) <= most) return Number(text) - 1
  }
}

/** Some of them by numbers, all by Enter, the first of which becomes the default. */
const pickSome = async (dialogue: Dialogue, found: readonly Candidate[]): Promise<Candidate[] | undefined> => {
  for (;;) {
    const said = await dialogue.hear('Which to use, the default first? Numbers such as 2,1; Enter for all: ')
    if (said?.type !== 'text') return undefined
    const text = said.text.trim()
    if (text === '') return [...found]
    const chosen = text.split(/[\s,]+/u).map((piece) => found[Number(piece) - 1])
    if (chosen.every((one) => one !== undefined)) return [...new Set(chosen)].flatMap((one) => one ?? [])
  }
}

/** Undefined if the person leaves. */
const askFor = async (input: CommandInput, found: readonly Candidate[]): Promise<Chosen[] | undefined> => {
  const dialogue = input.dialogue()
  input.print(['Found', ...found.map((one, at) => `  ${at + 1}  ${describe(one)}`)].join('\n'))
  const wanted = found.length === 1 ? [...found] : await pickSome(dialogue, found)
  const chosen: Chosen[] = []
  for (const one of wanted ?? []) {
    if (one.models.length > 1)
      input.print(
        [
          `Models of ${visibleLine(one.route_id)}`,
          ...one.models.map((name, at) => `  ${at + 1}  ${visibleLine(name)}`),
        ].join('\n'),
      )
    const at = one.models.length > 1 ? await pick(dialogue, 'Which one?', one.models.length) : 0
    if (at === undefined) return undefined
    chosen.push({ ...one, model: one.models[at] })
  }
  if (wanted === undefined) return undefined
  const names = chosen.map(({ route_id }) => visibleLine(route_id)).join(', ')
  const said = await dialogue.hear(`Store what is needed and add to config/routes.toml: ${names}? [Y/n] `)
  return said?.type === 'text' && /^(?:y|yes)?$/iu.test(said.text.trim()) ? chosen : undefined
}

const storeKey = ({ client }: NearDaemon, { route_id, provider, key }: Chosen) =>
  client.send('POST', '/v1/runtime/secrets', {
    slot_id: secretOf(route_id),
    provider: provider.secrets_of[0] ?? 'generic',
    mode: 'api_key',
    state: { value: key?.value ?? '' },
  })

const Check = open({
  route_id: string(),
  model: string(),
  answered: boolean(),
  code: optional(string()),
  message: optional(string()),
})
const check = async ({ client }: NearDaemon, route_id: string): Promise<CheckedRoute> => {
  const parsed = parse(Check, await client.send('POST', '/v1/runtime/model/check', { route_id }))
  return parsed.ok ? parsed.value : { route_id, model: '', answered: false }
}

const Runtime = open({
  default_route: string(),
  routes: array(open({ route_id: string(), auth_ref: optional(string()) })),
})
const runtimeOf = async ({ client }: NearDaemon) => {
  const parsed = parse(Runtime, await client.get('/v1/runtime'))
  return parsed.ok ? parsed.value : { default_route: '', routes: [] }
}

/** Looks for the new routes in the daemon, which reads the file when it is written. */
const [looks, betweenMs] = [100, 100]
const areRead = async (input: CommandInput, near: NearDaemon, wanted: readonly string[]): Promise<boolean> => {
  for (let look = 0; look < looks; look += 1) {
    const { routes } = await runtimeOf(near)
    if (wanted.every((name) => routes.some(({ route_id }) => route_id === name))) return true
    await input.pause(betweenMs, input.signal)
  }
  return false
}

const entryOf = ({ route_id, provider, base_url, model, key }: Chosen): NewRoute => ({
  route_id,
  driver: provider.provider,
  base_url,
  model,
  auth_ref: key === undefined ? undefined : secretOf(route_id),
})

/** Adds the routes to the file; puts back what was there if the daemon does not take it. */
const addRoutes = async (input: CommandInput, near: NearDaemon, added: readonly Chosen[]): Promise<void> => {
  const before = near.config(file)
  const { default_route, routes } = await runtimeOf(near)
  const kept = routes.find(({ route_id }) => route_id === default_route && hasRoute(before ?? '', route_id))
  const fallback = kept?.route_id ?? added[0]?.route_id ?? ''
  await near.writeConfig(file, withRoutes(before ?? '', added.map(entryOf), fallback))
  if (
    await areRead(
      input,
      near,
      added.map(({ route_id }) => route_id),
    )
  )
    return
  await near.writeConfig(file, before)
  throw commandErrors.routes_file_refused()
}

/** True where the key of the route is the secret that is stored here. */
const isOurs = async (near: NearDaemon, { route_id }: Chosen): Promise<boolean> =>
  (await runtimeOf(near)).routes.some((one) => one.route_id === route_id && one.auth_ref === secretOf(route_id))

const keyless: ReadonlySet<string | undefined> = new Set(['auth', 'route_not_ready'])

/** Checks a route; a key of ours that is refused or gone gives way to the one that was found. */
const checkOne = async (near: NearDaemon, one: Chosen, { isNew, say }: { isNew: boolean; say(line: string): void }) => {
  const first = await check(near, one.route_id)
  if (isNew || one.key === undefined || first.answered || !keyless.has(first.code)) return first
  if (!(await isOurs(near, one))) return first
  await storeKey(near, one)
  say(`${visibleLine(one.route_id)}: stored ${visibleLine(one.key.from)} in place of the one that was refused.`)
  return check(near, one.route_id)
}

const setUp = async (input: CommandInput, near: NearDaemon, chosen: readonly Chosen[]): Promise<Done> => {
  const lines: string[] = []
  const before = near.config(file) ?? ''
  const added = chosen.filter(({ route_id }) => !hasRoute(before, route_id))
  for (const { model, route_id, base_url = '' } of added)
    if (model === undefined) throw commandErrors.server_silent({ details: { route_id, url: base_url } })
  for (const one of added) if (one.key !== undefined) await storeKey(near, one)
  if (added.length > 0) await addRoutes(input, near, added)
  for (const one of chosen) {
    const name = visibleLine(one.route_id)
    if (!added.includes(one)) lines.push(`${name}: is in config/routes.toml already and stays as it is.`)
    else if (one.key === undefined) lines.push(`${name}: added to config/routes.toml.`)
    else
      lines.push(`${name}: added to config/routes.toml; its key is the secret ${visibleLine(secretOf(one.route_id))}.`)
  }
  const checks: CheckedRoute[] = []
  for (const one of chosen) {
    const checked = await checkOne(near, one, { isNew: added.includes(one), say: (line) => void lines.push(line) })
    checks.push(checked)
    lines.push(checkText(checked, one.base_url !== undefined))
  }
  const { default_route } = await runtimeOf(near)
  const next = near.serves ? 'holdfast chat' : 'holdfast serve, and holdfast chat in another terminal'
  lines.push(`The default route is ${visibleLine(default_route)}. Next: ${next}.`)
  return { lines, checks, planned: false }
}

const found = async (input: CommandInput, near: NearDaemon): Promise<Candidate[]> => {
  const providers = await readProviders(near)
  return isGiven(input, 'provider', 'server')
    ? [await findNamed(input, providers, await givenKey(input))]
    : findAll(input, providers)
}

const initialise = async (input: CommandInput, near: NearDaemon): Promise<Done> => {
  const all = await found(input, near)
  const model = modelFlag(input)
  if (all.length === 0) return { lines: [nothingFound], checks: [], planned: true }
  if (model !== undefined && all.length > 1)
    throw commandErrors.flag_required({ details: { command: 'init --model', flags: '--provider or --server' } })
  const offered = all.map((one) => (model === undefined ? one : { ...one, models: [model] }))
  const asItIs = offered.map((one): Chosen => ({ ...one, model: one.models[0] }))
  const isPerson = input.output !== 'json' && input.attended && input.flags['yes'] !== true && !isKeyGiven(input)
  if (!isPerson || !input.dialogue().attended) {
    if (input.flags['yes'] === true || isGiven(input, 'provider', 'server')) return setUp(input, near, asItIs)
    const would = ['Would use', ...asItIs.map((one) => `  ${describe(one)}`)]
    return { lines: [...would, 'Nothing was changed. holdfast init --yes does it.'], checks: [], planned: true }
  }
  const chosen = await askFor(input, offered)
  return chosen === undefined
    ? { lines: ['Nothing was changed.'], checks: [], planned: true }
    : setUp(input, near, chosen)
}

export const init = defineCommand({
  path: ['init'],
  summary:
    'Find keys in the environment and model servers on this machine, store the keys as secrets, write ' +
    'config/routes.toml, and ask each model for one word. With or without a daemon; what is there stays.',
  flags: {
    'state-root': { kind: 'text', summary: 'The state root; SERVICE_STATE_ROOT, else ./state.' },
    yes: { kind: 'switch', summary: 'Use all that is found, and ask nothing.' },
    provider: { kind: 'text', summary: 'Use this one alone: a provider, or a server such as ollama.' },
    server: {
      kind: 'text',
      value: 'url',
      summary: 'Use the server at this address, such as http://127.0.0.1:8000/v1.',
    },
    model: { kind: 'text', summary: 'Its model.' },
    ...secretFlags,
  },
  run: (input) => input.withDaemon((near) => initialise(input, near)),
  show: ({ lines }: Done) => lines.join('\n'),
  status: ({ checks }: Done) => (checks.every(({ answered }) => answered) ? 0 : 1),
})

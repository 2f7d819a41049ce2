/** `init`: from what is on the machine to a model that answers. */
import {
  commandErrors,
  commandLine,
  defineCommand,
  secretFlags,
  visibleLine,
  type CommandInput,
  type Dialogue,
  type NearDaemon,
} from '../../../../core/plugin.js'
import { findAll, findNamed, readProviders, type Candidate, type FoundKey } from './found.js'
import { checkText, lineWith, type CheckedRoute } from './init-words.js'
import { hasRoute, nameAt } from './routes-text.js'
import {
  addRoutes,
  authRefOf,
  checkOne,
  checkPlace,
  file,
  runtimeOf,
  secretOf,
  storeKey,
  type Chosen,
} from './set-routes.js'

interface Done {
  readonly lines: readonly string[]
  readonly checks: readonly CheckedRoute[]
  /** True where nothing was to be done but told. */
  readonly planned: boolean
}

const isGiven = ({ flags }: CommandInput, ...names: readonly string[]): boolean =>
  names.some((name) => flags[name] !== undefined)

/** A key that was typed or piped has used standard input up. */
const isKeyGiven = (input: CommandInput): boolean => isGiven(input, ...Object.keys(secretFlags))

const givenKey = async (input: CommandInput): Promise<FoundKey | undefined> =>
  isKeyGiven(input) ? { value: await input.secret(), from: 'the given key' } : undefined

const textFlag = ({ flags }: CommandInput, name: string): string | undefined => {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

const modelFlag = (input: CommandInput): string | undefined => textFlag(input, 'model')
const rootFlag = (input: CommandInput) => ({ 'state-root': textFlag(input, 'state-root') })

const describe = ({ route_id, because, models }: Candidate): string =>
  [`${route_id}: ${because}`, ...(models[0] === undefined ? [] : [`model ${models[0]}`])].map(visibleLine).join(', ')

const nothingFound = async (near: NearDaemon): Promise<string> =>
  'Found no key and no model server. Set the variable of a provider, such as ANTHROPIC_API_KEY, or start a server ' +
  'such as Ollama, and try again; or name one: holdfast init --provider NAME --stdin, or --server URL --model NAME. ' +
  `Until then the default route answers, ${visibleLine((await runtimeOf(near)).default_route)}.`

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

/** The command that takes the key of a route. */
const keyLineOf = async (input: CommandInput, near: NearDaemon, one: Chosen): Promise<string> => {
  const auth_ref = await authRefOf(near, one)
  if (auth_ref !== undefined && auth_ref !== secretOf(one.route_id)) return commandLine('secrets set', auth_ref)
  const named = { provider: textFlag(input, 'provider'), server: one.base_url }
  return lineWith('init', {
    ...rootFlag(input),
    ...(one.isAddressed === true ? named : { provider: one.route_id }),
  })
}

const wordsOf = (one: Chosen, isNew: boolean): string => {
  const name = visibleLine(one.route_id)
  if (!isNew) return `${name}: is in config/routes.toml already and stays as it is.`
  const key = one.key === undefined ? '' : `; its key is the secret ${visibleLine(secretOf(one.route_id))}`
  return `${name}: added to config/routes.toml${key}.`
}

const wishText = (route_id: string, wish: string): string =>
  visibleLine(`${route_id}: to use ${wish}, change default_model of [routes.${route_id}] in config/routes.toml.`)

/** A default that does not answer beside a route that does. */
const betterDefault = (default_route: string, checks: readonly CheckedRoute[]): string => {
  const isSilent = checks.some(({ route_id, answered }) => route_id === default_route && !answered)
  const other = isSilent ? checks.find(({ answered }) => answered) : undefined
  if (other === undefined) return ''
  const line = visibleLine(`default_route = ${JSON.stringify(other.route_id)}`)
  return ` It does not answer and ${visibleLine(other.route_id)} does: put ${line} into config/routes.toml.`
}

const closingOf = async (input: CommandInput, near: NearDaemon, checks: readonly CheckedRoute[]): Promise<string> => {
  const { default_route } = await runtimeOf(near)
  const serve = `${visibleLine(lineWith('serve', rootFlag(input)))}, and holdfast chat in another terminal`
  const next = near.serves ? 'holdfast chat' : serve
  return `The default route is ${visibleLine(default_route)}.${betterDefault(default_route, checks)} Next: ${next}.`
}

const setUp = async (input: CommandInput, near: NearDaemon, chosen: readonly Chosen[]): Promise<Done> => {
  const lines: string[] = []
  const before = near.config(file) ?? ''
  const added = chosen.filter(({ route_id }) => !hasRoute(before, route_id))
  for (const { model, isSilent, route_id, base_url: url = '' } of added)
    if (model === undefined)
      throw (isSilent === true ? commandErrors.server_silent : commandErrors.models_unknown)({
        details: { route_id, url },
      })
  for (const one of added) if (one.key !== undefined) await storeKey(near, one)
  if (added.length > 0) await addRoutes(input, near, added)
  for (const one of chosen) lines.push(wordsOf(one, added.includes(one)))
  const checks: CheckedRoute[] = []
  for (const one of chosen) {
    const isNew = added.includes(one)
    const checked = await checkOne(input, near, { one, isNew, say: (line) => void lines.push(line) })
    checks.push(checked)
    lines.push(checkText(checked, { isLocal: one.base_url !== undefined, keyLine: await keyLineOf(input, near, one) }))
    const wish = modelFlag(input)
    if (wish !== undefined && wish !== checked.model) lines.push(wishText(one.route_id, wish))
  }
  return { lines: [...lines, await closingOf(input, near, checks)], checks, planned: false }
}

const found = async (input: CommandInput, near: NearDaemon): Promise<Candidate[]> => {
  const providers = await readProviders(near)
  if (!isGiven(input, 'provider', 'server')) return findAll(input, providers)
  const one = await findNamed(input, providers, await givenKey(input))
  const { route_id, base_url, isAddressed } = one
  if (isAddressed !== true || base_url === undefined) return [one]
  return [{ ...one, route_id: nameAt(near.config(file) ?? '', route_id, base_url) }]
}

const initialise = async (input: CommandInput, near: NearDaemon): Promise<Done> => {
  await checkPlace(near)
  const all = await found(input, near)
  const model = modelFlag(input)
  if (all.length === 0) return { lines: [await nothingFound(near)], checks: [], planned: true }
  if (model !== undefined && all.length > 1)
    throw commandErrors.flag_required({ details: { command: 'init --model', flags: '--provider or --server' } })
  const offered = all.map((one) => (model === undefined ? one : { ...one, models: [model] }))
  const asItIs = offered.map((one): Chosen => ({ ...one, model: one.models[0] }))
  const isPerson = input.output !== 'json' && input.attended && input.flags['yes'] !== true && !isKeyGiven(input)
  if (!isPerson || !input.dialogue().attended) {
    if (input.flags['yes'] === true || isGiven(input, 'provider', 'server')) return setUp(input, near, asItIs)
    const does = visibleLine(lineWith('init', rootFlag(input)))
    const would = ['Would use', ...asItIs.map((one) => `  ${describe(one)}`)]
    return { lines: [...would, `Nothing was added. ${does} --yes does it.`], checks: [], planned: true }
  }
  const chosen = await askFor(input, offered)
  return chosen === undefined
    ? { lines: [`Nothing was added to the state root ${visibleLine(near.root)}.`], checks: [], planned: true }
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

/** `init`: from what is on the machine to a model that answers. */
import {
  commandErrors,
  commandLine,
  defineCommand,
  secretFlags,
  visibleLine,
  type CommandInput,
  type NearDaemon,
} from '../../../../core/plugin.js'
import { firstFault } from '../doctor/routes-file.js'
import { askFor, askForKey } from './ask.js'
import { findAll, findNamed, readProviders, type Candidate, type FoundKey } from './found.js'
import { checkText, describe, lineWith, stayText, wishText, type CheckedRoute } from './init-words.js'
import { addressOf, hasRoute, nameAt } from './routes-text.js'
import {
  addRoutes,
  authRefOf,
  check,
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

/** A person types and is asked. */
const isPerson = (input: CommandInput): boolean =>
  input.output !== 'json' &&
  input.attended &&
  input.flags['yes'] !== true &&
  !isKeyGiven(input) &&
  input.dialogue().attended

type Named = Pick<Chosen, 'route_id' | 'base_url' | 'isAddressed'>

/** The command that takes the key of a route. */
const keyLineOf = async (input: CommandInput, near: NearDaemon, one: Named): Promise<string> => {
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
  if (!isNew) return stayText(one.route_id)
  const key = one.key === undefined ? '' : `; its key is the secret ${visibleLine(secretOf(one.route_id))}`
  return `${name}: added to config/routes.toml${key}.`
}

/** How a route did, with what helps. */
const tell = async (input: CommandInput, near: NearDaemon, { one, checked }: { one: Named; checked: CheckedRoute }) =>
  checkText(checked, { isLocal: one.base_url !== undefined, keyLine: await keyLineOf(input, near, one) })

/** Routes that stand there, and are not what was asked for. */
const checkThere = async (input: CommandInput, near: NearDaemon, route_ids: readonly string[]) => {
  const checks = await Promise.all(route_ids.map((route_id) => check(near, route_id)))
  const text = near.config(file) ?? ''
  const lines: string[] = []
  for (const checked of checks) {
    const base_url = addressOf(text, checked.route_id)
    const one = { route_id: checked.route_id, ...(base_url !== undefined && { base_url }) }
    lines.push(await tell(input, near, { one, checked }))
  }
  return { checks, lines }
}

/** A default that does not answer beside a route that does. */
const betterDefault = (default_route: string, checks: readonly CheckedRoute[]): string => {
  const isSilent = checks.some(({ route_id, answered }) => route_id === default_route && !answered)
  const other = isSilent ? checks.find(({ answered }) => answered) : undefined
  if (other === undefined) return ''
  const line = visibleLine(`default_route = ${JSON.stringify(other.route_id)}`)
  return ` It does not answer and ${visibleLine(other.route_id)} does: put ${line} into config/routes.toml.`
}

const wayIn =
  'Set the variable of a provider, such as ANTHROPIC_API_KEY, or start a server such as Ollama, and try again; or ' +
  'name one: holdfast init --provider NAME --stdin, or --server URL --model NAME.'

/** What is there may do. */
const nothingFound = async (input: CommandInput, near: NearDaemon): Promise<Done> => {
  const { default_route, routes } = await runtimeOf(near)
  const { checks, lines } = await checkThere(
    input,
    near,
    routes.map(({ route_id }) => route_id),
  )
  const answers = checks.some(({ route_id, answered }) => route_id === default_route && answered)
  const standing = answers
    ? `The default route answers meanwhile: ${visibleLine(default_route)}.`
    : `The default route is ${visibleLine(default_route)}.${betterDefault(default_route, checks)}`
  return { lines: ['Found no key and no model server.', ...lines, standing, wayIn], checks, planned: true }
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
  const mayStore = (one: Chosen): Promise<boolean> => (isPerson(input) ? askForKey(input, one) : Promise.resolve(true))
  for (const one of chosen) {
    const isNew = added.includes(one)
    const checked = await checkOne(input, near, { one, isNew, mayStore, say: (line) => void lines.push(line) })
    checks.push(checked)
    lines.push(await tell(input, near, { one, checked }))
    const wish = modelFlag(input)
    if (wish !== undefined && wish !== checked.model) lines.push(wishText(one.route_id, wish))
  }
  const { default_route } = await runtimeOf(near)
  if (chosen.every(({ route_id }) => route_id !== default_route)) {
    const there = await checkThere(input, near, [default_route])
    checks.push(...there.checks)
    lines.push(...there.lines)
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

/** What would be done, for whoever is not there to be asked. */
const planOf = (input: CommandInput, fresh: readonly Candidate[], known: readonly Candidate[]): Done => {
  const does = `${visibleLine(lineWith('init', rootFlag(input)))} --yes`
  const would = fresh.length === 0 ? [] : ['Would use', ...fresh.map((one) => `  ${visibleLine(describe(one))}`)]
  const end = fresh.length === 0 ? `${does} asks each for one word.` : `Nothing was added. ${does} does it.`
  return { lines: [...would, ...known.map(({ route_id }) => stayText(route_id)), end], checks: [], planned: true }
}

const initialise = async (input: CommandInput, near: NearDaemon): Promise<Done> => {
  await checkPlace(near)
  const before = near.config(file) ?? ''
  const fault = firstFault(before)
  if (fault !== undefined) throw commandErrors.routes_file_broken({ details: { fault } })
  const all = await found(input, near)
  const model = modelFlag(input)
  if (all.length === 0) return nothingFound(input, near)
  if (model !== undefined && all.length > 1)
    throw commandErrors.flag_required({ details: { command: 'init --model', flags: '--provider or --server' } })
  const offered = all.map((one) => (model === undefined ? one : { ...one, models: [model] }))
  const asItIs = offered.map((one): Chosen => ({ ...one, model: one.models[0] }))
  const known = asItIs.filter(({ route_id }) => hasRoute(before, route_id))
  const fresh = asItIs.filter((one) => !known.includes(one))
  if (!isPerson(input))
    return input.flags['yes'] === true || isGiven(input, 'provider', 'server')
      ? setUp(input, near, asItIs)
      : planOf(input, fresh, known)
  const chosen = fresh.length === 0 ? [] : await askFor(input, fresh)
  return chosen === undefined
    ? { lines: [`Nothing was added to the state root ${visibleLine(near.root)}.`], checks: [], planned: true }
    : setUp(input, near, [...chosen, ...known])
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

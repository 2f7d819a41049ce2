/**
 * Ten thousand random parents and children by the code that starts agents, judged by what a scope, a surface and a mode
 * mean: a child has what its parent and its request both let pass. The seed stands in the log.
 */
import test, { type ExecutionContext } from 'ava'
import { unsafeCast } from '../../../../../core/plugin.js'
import { createRandom } from '../../../../faults/random.js'
import {
  permitsCapability,
  permitsCredential,
  type SessionRecord,
} from '../../../../../plugins/execution/sessions/contract.js'
import { mayUseConnectorCredential, mayUseRoute } from '../../../../../plugins/execution/sessions/settings/effective.js'
import { createWorld, tools, type Being, type World } from './small-world.js'
import { createWishes, names, strictness, type Wish } from './wishes.js'

const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)
const pairs = 10_000

type Names = readonly string[]
type Lists = Readonly<Record<string, Names>> | undefined

/** What a list of a request means: names as they stand there, without the white space around them. */
const passes = (lists: Lists, kind: string, name: string): boolean => {
  const [allow, deny] = ['allow', 'deny'].map((side) => (lists?.[`${kind}_${side}`] ?? []).map((one) => one.trim()))
  const holds = (list: Names = []): boolean => list.includes('*') || list.includes(name)
  return (allow?.length === 0 || holds(allow)) && !holds(deny)
}

/** All but routes are to be named. */
const passesCredential = (lists: Lists, kind: string, name: string): boolean => {
  const isNamed = kind === 'route' || (lists?.[`${kind}_allow`] ?? []).length > 0
  return isNamed && passes(lists, kind, name)
}

const fits = (pattern: string, name: string): boolean =>
  pattern.trim().endsWith('*') ? name.startsWith(pattern.trim().replace(/\*$/u, '')) : name === pattern.trim()
const onSurface = ({ allowlist = [], denylist = [] }: NonNullable<Wish['tool_surface']>, name: string): boolean =>
  (allowlist.length === 0 || allowlist.some((one) => fits(one, name))) && !denylist.some((one) => fits(one, name))

const capabilities = ['skill', 'mcp_server', 'mcp_tool'] as const
const credentials = ['route', 'connector', 'connector_credential', 'mcp_server'] as const
const leniency = { deny: 0, ask: 1, allow: 2 } as const

/** What calls of an agent come to now, by the functions that they ask. */
const powersOf = (world: World, { session, pins }: Being) => {
  const { session_id } = session
  const capability = world.sessions.effectiveCapabilityScope(session)
  const credential = world.sessions.effectiveCredentialScope(session)
  const ask = (tool_name: string) => world.tools.decide({ tool_name, session_id, ...(pins !== undefined && { pins }) })
  return {
    mode: ask('bash').effective_mode,
    tools: new Map(
      tools.map(({ name }) => [
        name,
        { seen: world.tools.find(name, session_id) !== undefined, decision: ask(name).decision },
      ]),
    ),
    capability: (kind: (typeof capabilities)[number], name: string) => permitsCapability(capability, kind, name),
    credential: (kind: (typeof credentials)[number], name: string) => permitsCredential(credential, kind, name),
    uses: (name: string) => [
      mayUseRoute(session, name),
      mayUseConnectorCredential(session, { connector: name, credential: 'a' }),
      mayUseConnectorCredential(session, { connector: 'a', credential: name }),
    ],
  }
}
type Powers = ReturnType<typeof powersOf>

/** What of a pair is not as it must be. */
const faultsOf = (parent: Powers, child: Powers, wish: Wish): readonly string[] => {
  const faults: string[] = []
  const same = (what: string, is: boolean, must: boolean): void => {
    if (is !== must) faults.push(`${what} is ${is ? 'permitted' : 'refused'}`)
  }
  for (const name of names) {
    for (const kind of capabilities)
      same(
        `${kind} ${name}`,
        child.capability(kind, name),
        parent.capability(kind, name) && passes(wish.capability_scope, kind, name),
      )
    for (const kind of credentials)
      same(
        `credential ${kind} ${name}`,
        child.credential(kind, name),
        parent.credential(kind, name) &&
          (wish.credential_scope === undefined
            ? kind === 'route'
            : passesCredential(wish.credential_scope, kind, name)),
      )
    child.uses(name).forEach((may, at) => {
      if (may && parent.uses(name)[at] !== true) faults.push(`it may use ${name} (${at}), its parent may not`)
    })
  }
  for (const { name, origin } of tools) {
    const [above, own] = [parent.tools.get(name), child.tools.get(name)]
    if (above === undefined || own === undefined) continue
    const isForeign =
      origin === undefined ||
      (passes(wish.capability_scope, 'mcp_server', origin.server) && passes(wish.capability_scope, 'mcp_tool', name))
    const surface = wish.tool_surface ?? wish.fork_context?.tool_surface ?? {}
    same(`sight of ${name}`, own.seen, above.seen && isForeign && onSurface(surface, name))
    if (leniency[own.decision] > leniency[above.decision])
      faults.push(`${name}: ${own.decision} where the parent has ${above.decision}`)
  }
  return faults
}

interface Tally {
  made: number
  refused: number
  kept: Being[]
}

/** One pair: a child of a being that was made before, or of a new one. */
const tryPair = (t: ExecutionContext, world: World, wishes: ReturnType<typeof createWishes>, tally: Tally): void => {
  const parent = tally.kept.length > 0 && wishes.chance(0.5) ? wishes.pick(tally.kept) : wishes.root()
  world.add(parent)
  world.permission_mode = wishes.mode()
  const [wish, profile] = [wishes.wish(), wishes.chance(0.15) ? 'plan' : 'default'] as const
  const powers = powersOf(world, parent)
  const told = (): string => JSON.stringify({ seed, parent, wish, profile, daemon: world.permission_mode })
  const isWiderMode =
    wish.permission_mode !== undefined && strictness.indexOf(wish.permission_mode) < strictness.indexOf(powers.mode)
  let plan: ReturnType<World['plan']>
  try {
    plan = world.plan(parent, unsafeCast({ retention: 'retain', ...wish }), profile)
  } catch (error) {
    tally.refused += 1
    if (unsafeCast<{ code?: string }>(error).code !== 'agent_widened') t.fail(`${String(error)} ${told()}`)
    return
  }
  if (isWiderMode) t.fail(`a wider mode was let pass ${told()}`)
  const { session, record } = plan
  const { settings, ...scopes } = session
  const ids = { session_id: `s${tally.made}`, agent_id: `a${tally.made}` }
  const child: Being = {
    session: unsafeCast<SessionRecord>({ ...ids, ...settings, ...scopes }),
    spawned: { ...ids, ...record },
    rules: [],
    pins: undefined,
  }
  world.add(child)
  tally.made += 1
  world.permission_mode = 'bypassPermissions'
  const own = powersOf(world, child)
  const mode = profile === 'plan' ? 'plan' : (wish.permission_mode ?? powers.mode)
  const faults = [...faultsOf(powers, own, wish), ...(own.mode === mode ? [] : [`mode ${own.mode}, not ${mode}`])]
  if (faults.length > 0) t.fail(`${faults.join('; ')} ${told()}`)
  if (tally.kept.length < 200) tally.kept.push(child)
  else tally.kept[wishes.below(200)] = child
}

test('agents-4, agents-5, agents-6: of ten thousand random pairs each child has what its parent and its request have in common', (t) => {
  const world = createWorld()
  const wishes = createWishes(createRandom(seed))
  const tally: Tally = { made: 0, refused: 0, kept: [] }
  for (let n = 0; n < pairs; n += 1) tryPair(t, world, wishes, tally)
  t.log(`HOLDFAST_SEED=${seed}: ${tally.made} made, ${tally.refused} refused`)
  t.true(tally.made > pairs / 4 && tally.refused > pairs / 10)
})

import {
  array,
  childEnvironment,
  defaulted,
  defineList,
  doc,
  isCidr,
  object,
  record,
  rule,
  secretsInAddress,
  secretsPassed,
  string,
  visibleLine,
  wrongToo,
  type Infer,
  type List,
  type ListSpec,
  type Secrets,
} from '../../../core/plugin.js'
import { faultOfHook, hookFields, mostOfMoment, type HookFault, type HookMap } from './definitions.js'

/** One hook of the file; its table names it. */
const HookEntry = object({
  event: doc(string({ min: 1, max: 100 }), 'The moment at which it is asked.'),
  ...hookFields,
})
type HookEntry = Infer<typeof HookEntry>

/** No number: these would stand first, whatever their order. */
const names = /^(?!\d+$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u

const faultOfEntry = (name: string, entry: HookEntry, allow_cidrs: readonly string[]): HookFault | undefined => {
  const { event, ...rest } = entry
  if (!names.test(name))
    return { member: '', fault: 'its name must be letters, digits, `.`, `_` and `-`, 64 at most, and no number.' }
  return faultOfHook(event, { name, ...rest }, { allow_cidrs: () => allow_cidrs })
}

const besideFields = {
  allow_cidrs: doc(
    defaulted(array(rule(string(), 'must be an address range such as 198.18.0.0/15', isCidr), { max: 100 }), []),
    'Special address ranges that HTTP hooks may reach.',
  ),
  pass_environment: doc(
    defaulted(array(string({ min: 1, max: 200 }), { max: 100 }), []),
    'Variables that commands of hooks see beside the usual ones, as in shell.pass_environment.',
  ),
}
/** What the file has beside its hooks. */
const HooksBeside = object(besideFields)
export type HooksBeside = Infer<typeof HooksBeside>

const Fields = object({
  hooks: doc(
    defaulted(record(HookEntry), {}),
    'Hooks by name, in the order in which they are asked; see the list below.',
  ),
  ...besideFields,
})

/** What is wrong with hooks, by their names. */
const faultsOf = ({ hooks, allow_cidrs }: Infer<typeof Fields>): ReadonlyMap<string, HookFault> => {
  const asked = new Map<string, number>()
  const faults = new Map<string, HookFault>()
  for (const [name, entry] of Object.entries(hooks)) {
    const { event } = entry
    const count = (asked.get(event) ?? 0) + 1
    asked.set(event, count)
    const fault =
      faultOfEntry(name, entry, allow_cidrs) ??
      (count > mostOfMoment ? { member: '', fault: `there may be ${mostOfMoment} for ${event} at most.` } : undefined)
    if (fault !== undefined) faults.set(`hooks.${visibleLine(name).slice(0, 64)}`, fault)
  }
  return faults
}

const toldFaults = (config: Infer<typeof Fields>): string | undefined => {
  const [first, ...others] = faultsOf(config)
  if (first === undefined) return undefined
  const [name, { member, fault }] = first
  const place = member === '' ? name : `${name}.${member}`
  return `${place}: ${fault.replace(/\.$/u, '')}${wrongToo(others.map(([other]) => other))}`
}

/** No start leaves a wrong hook out: what it guards would be open. */
export const HooksConfig = rule(Fields, 'must be hooks that can be', (config) => toldFaults(config) ?? true)
export type HooksConfig = Infer<typeof HooksConfig>

/** `[hooks.NAME]` of `config/hooks.toml`. */
export const hookList = (): ListSpec<HookEntry, HooksBeside> =>
  defineList({
    file: 'hooks',
    table: 'hooks',
    summary: 'What is asked at named moments, in the order of the file, while operators have not set other hooks.',
    entry: HookEntry,
    beside: HooksBeside,
    fault: (name, entry, beside) => {
      const found = faultOfEntry(name, entry, beside?.allow_cidrs ?? [])
      return found && (found.member === '' ? found.fault : `${found.member}: ${found.fault}`)
    },
    bound: { most: mostOfMoment, of: ({ event }) => event },
  })

/** Hooks of the list by moment: the same value as long as the list is the same. */
export const createConfigured = (list: List<HookEntry>): (() => HookMap) => {
  let made: { readonly of: ReadonlyMap<string, HookEntry>; readonly hooks: HookMap } | undefined
  return () => {
    const of = list.all()
    if (made?.of !== of) made = { of, hooks: byMoment(of) }
    return made.hooks
  }
}

const byMoment = (entries: ReadonlyMap<string, HookEntry>): HookMap => {
  const hooks: Record<string, HookMap[string]> = {}
  for (const [name, { event, ...rest }] of entries) (hooks[event] ??= []).push({ name, ...rest })
  return hooks
}

interface BesideParts {
  readonly list: Pick<List<HookEntry, HooksBeside>, 'beside' | 'onChange'>
  /** Of the start. */
  readonly config: HooksBeside
  readonly secrets: Pick<Secrets, 'guard' | 'redact'>
}

/** What stands beside the hooks, as the file has it now. */
export const createBeside = ({ list, config, secrets }: BesideParts) => {
  const now = (): HooksBeside => list.beside() ?? config
  const guard = (): void => secretsPassed(now().pass_environment).forEach(secrets.guard)
  const seen = (pass: readonly string[]) => childEnvironment({ pass, redact: secrets.redact })
  return {
    allow_cidrs: () => now().allow_cidrs,
    environment: () => seen(now().pass_environment),
    /** Values that commands see because the file names their variables; a path is none. */
    passed(): readonly string[] {
      const pass = now().pass_environment
      if (pass.length === 0) return []
      const usual = seen([])
      return Object.entries(seen(pass)).flatMap(([name, value]) =>
        name in usual || value.startsWith('/') ? [] : [value, ...secretsInAddress(value)],
      )
    },
    /** Has what is secret of what is passed on redacted, also where a saved file names it. */
    guardPassed() {
      guard()
      list.onChange(guard)
    },
  }
}

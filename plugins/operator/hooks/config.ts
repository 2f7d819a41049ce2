import { array, defaulted, doc, isCidr, object, rule, string, type Infer } from '../../../core/plugin.js'
import { faultOfHooks, HookMap } from './definitions.js'

/** Which special addresses they may reach is checked at each call. */
const anywhere = ['0.0.0.0/0', '::/0']

const Configured = rule(
  HookMap,
  'must be hooks that can be',
  (hooks) => faultOfHooks(hooks, { allow_cidrs: anywhere }) ?? true,
)

export const HooksConfig = object({
  hooks: doc(defaulted(Configured, {}), 'Hooks by moment, in force until others are set while the daemon runs.'),
  allow_cidrs: doc(
    defaulted(array(rule(string(), 'must be an address range such as 198.18.0.0/15', isCidr), { max: 100 }), []),
    'Special address ranges that HTTP hooks may reach.',
  ),
  pass_environment: doc(
    defaulted(array(string({ min: 1, max: 200 }), { max: 100 }), []),
    'Variables that commands of hooks see beside the usual ones, as in shell.pass_environment.',
  ),
})
export type HooksConfig = Infer<typeof HooksConfig>

import { errors as configErrors } from '../base/config.js'
import { defineErrors, Problem } from '../base/errors.js'

/**
 * What stops a start or leaves a plugin out. Read by operators, in the log, in `/v1/status` and on the command line.
 */
export const errors = defineErrors({
  plugin_required: {
    status: 500,
    detail: 'the required plugin {plugin} did not come up: {reason}{way}',
    action: 'Correct the cause and start again.',
  },
  plugin_refused: {
    status: 500,
    detail: '{reason}',
    action: 'Correct the plugin or take it out of config/plugins.toml.',
  },
  plugin_timeout: { status: 500, detail: '{what} did not finish within {seconds} s' },
  start_ended: { status: 503, detail: 'the daemon was asked to stop before it had started' },
  plugins_cut: { status: 500, detail: 'the stop of {plugins} took too long and was cut off' },
  plugin_sealed: { status: 500, detail: '{what} is only possible in register', action: 'Declare it in register.' },
  plugin_gone: { status: 500, detail: 'the plugin was stopped and cannot add {what}' },
  plugin_ended: { status: 503, detail: 'the plugin {plugin} was stopped, so {what} of it is refused' },
  plugin_failed: {
    status: 503,
    detail: 'The plugin {plugin} failed in {what}, so this is refused.',
    action: 'See its fault with: holdfast plugins list. Correct it, or take it out of config/plugins.toml.',
  },
  observer_asynchronous: {
    status: 500,
    detail: 'it must not be async: what it is told in a commit ends with that',
    action: 'Do what takes longer behind the commit, with tx.after.',
  },
  observer_late: { status: 503, detail: 'it did not end within {ms} ms' },
  state_taken: {
    status: 500,
    detail: 'the {kind} {name} belongs to the plugin {plugin}',
    action: 'Declare another name; what belongs to another plugin is reached through its services.',
  },
  token_not_listed: {
    status: 500,
    detail: 'the token {token} is not in its provides',
    action: 'List the token in provides, or do not provide it.',
  },
  token_taken: { status: 500, detail: 'the token {token} is already provided by {plugin}' },
  token_missing: { status: 500, detail: 'register did not provide {token}, which its provides lists' },
  key_taken: { status: 500, detail: 'the point {point} already has {key}, contributed by {plugin}' },
  contribution_refused: { status: 500, detail: '{reason}', action: 'Correct what the plugin contributes.' },
  list_taken: { status: 500, detail: 'the file config/{file}.toml already has a list of the plugin {plugin}' },
  list_invalid: { status: 400, detail: '{file} {problem}' },
  repair_id_taken: { status: 500, detail: 'the repair step {id} is already declared by {plugin}' },
  repair_order: { status: 500, detail: 'the repair steps {ids} wait for each other or for a step that does not exist' },
  repair_unsettled: { status: 500, detail: 'after its fix the repair step {id} still finds {count} faults' },
})

/** Whether a plugin failed when it was asked whether something may be: it was charged, and its sentence says so. */
export const isPluginFailed = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === errors.plugin_failed.code

/** Whether a start ended because the daemon was asked to stop meanwhile. */
export const isStartEnded = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === errors.start_ended.code

/** What is wrong with the file of a list, as where the daemon reads a file itself; undefined for anything else. */
export const ofList = (error: unknown): Problem | undefined => {
  if (!(error instanceof Problem) || error.code !== errors.list_invalid.code) return undefined
  const { file: source = '', problem = '' } = error.occurrence.details ?? {}
  return configErrors.config_invalid({ details: { source, problem } })
}

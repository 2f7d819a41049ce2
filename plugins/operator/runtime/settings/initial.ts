/** What holds while nobody has changed a setting is looked at by nobody else: its plugin says it. */
import { blame, parse, type Log } from '../../../../core/plugin.js'
import type { RuntimeSetting } from './setting.js'

/** One that throws is charged wherever it is read. */
const firstOf = (setting: RuntimeSetting): { readonly value: unknown } | undefined => {
  try {
    return { value: setting.initial() }
  } catch {
    return undefined
  }
}

const faultOf = (setting: RuntimeSetting): string | undefined => {
  const first = firstOf(setting)
  const parsed = first && parse(setting.schema, first.value)
  if (parsed === undefined || parsed.ok) return undefined
  const [issue] = parsed.issues
  return `what its initial returns does not fit its schema: ${issue?.path || 'it'} ${issue?.rule ?? 'is another thing'}`
}

/** Charges the plugins whose settings begin with what they may not be. Not before all plugins have registered. */
export const checkInitials = (settings: readonly RuntimeSetting[], log: Log): void => {
  for (const setting of settings) {
    const wrong = faultOf(setting)
    if (wrong === undefined) continue
    const error = blame(setting, `the setting ${setting.name} is wrong: ${wrong}`)
    log.error('a setting begins with what it may not be', { setting: setting.name, error })
  }
}

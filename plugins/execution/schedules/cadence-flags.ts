/** The cadence that the flags of `schedules create` ask for. */
import { commandErrors, type CommandInput, type JsonObject } from '../../../core/plugin.js'

const secondsIn = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
])

/** `90`, `90s`, `5m`, `2h`, `1d` in seconds. */
const secondsOf = (text: string): number => {
  const [, digits, unit = 's'] = /^(\d+)\s*([smhd])?$/u.exec(text.trim()) ?? []
  if (digits === undefined)
    throw commandErrors.flag_invalid({
      details: { flag: 'every', problem: `must be a time such as 90, 90s, 5m, 2h or 1d, not "${text}"` },
    })
  return Number(digits) * (secondsIn.get(unit) ?? 1)
}

/** The next moment when a clock in this time zone shows so much. */
const nextAt = (hour: number, minute: number, now: number): number => {
  const date = new Date(now)
  date.setHours(hour, minute, 0, 0)
  if (date.getTime() <= now) date.setDate(date.getDate() + 1)
  return date.getTime()
}

/** `17:30`, `2027-01-31T09:00:00+01:00` or Unix milliseconds, in Unix ms. */
const momentOf = (text: string, now: number): number => {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/u.exec(text.trim()) ?? []
  if (hour !== undefined) return nextAt(Number(hour), Number(minute), now)
  const moment = /^\d{9,16}$/u.test(text) ? Number(text) : /^\d{4}-\d\d-\d\d/u.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(moment))
    throw commandErrors.flag_invalid({
      details: {
        flag: 'at',
        problem: `must be a time such as 17:30, 2027-01-31T09:00:00+01:00 or Unix milliseconds, not "${text}"`,
      },
    })
  return moment
}

/** Says what a cadence flag does not go with: nothing that was given is dropped. */
const refuseTogether = (flags: CommandInput['flags']): void => {
  const given = ['cron', 'at', 'every'].filter((flag) => flags[flag] !== undefined)
  const [other, flag = flags['cron'] === undefined && flags['timezone'] !== undefined ? 'timezone' : undefined] = given
  if (other !== undefined && flag !== undefined) throw commandErrors.flags_together({ details: { flag, other } })
}

export const cadenceOf = ({ flags, now }: Pick<CommandInput, 'flags' | 'now'>): JsonObject => {
  refuseTogether(flags)
  const { at, every, cron, timezone } = flags
  if (typeof every === 'string') return { type: 'interval', every_seconds: secondsOf(every) }
  if (typeof at === 'string') return { type: 'once', fire_at_ms: momentOf(at, now()) }
  return {
    type: 'cron',
    ...(typeof cron === 'string' && { expression: cron }),
    ...(typeof timezone === 'string' && { timezone }),
  }
}

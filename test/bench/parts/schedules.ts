/** Schedules that are due at one moment. */
import { rmSync } from 'node:fs'
import { startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { measureSchedules } from '../schedules.js'

const measure = async ({ note }: Bench): Promise<void> => {
  const root = temporaryRoot()
  const daemon = await startDaemon(root)
  const { p50, p99, max, blocked } = await measureSchedules(daemon.url, 1000)
  note('schedule dispatch lag at 1000 due p50', 'ms', 'less', p50)
  note('schedule dispatch lag at 1000 due p99', 'ms', 'less', p99)
  note('schedule dispatch of 1000 due, all of them', 'ms', 'less', max)
  note('another request meanwhile p99', 'ms', 'less', blocked)
  await daemon.stop()
  rmSync(root, { recursive: true })
}

export const schedules: Part = { name: 'schedules', measure }

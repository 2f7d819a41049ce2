/** The search in memory records. */
import { rmSync } from 'node:fs'
import { startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { measureMemory, plantRecords } from '../memory.js'

/** The floor is reading all texts for each query, in the bench's own process. */
const measure = async ({ note }: Bench): Promise<void> => {
  const root = temporaryRoot()
  plantRecords(root)
  const daemon = await startDaemon(root)
  const { p50, p99, build, blocked, readP50 } = await measureMemory(daemon)
  note('memory-search, 10000 records p50', 'ms', 'less', p50, readP50)
  note('memory-search, 10000 records p99', 'ms', 'less', p99, readP50)
  note('memory-search, index of 10000 records', 'ms', 'less', build)
  note('another request meanwhile, longest', 'ms', 'less', blocked)
  await daemon.stop()
  rmSync(root, { recursive: true })
}

export const memory: Part = { name: 'memory', measure }

/**
 * Makes a state root with years of history: `node dist/test/bench/history.js --root FOLDER [--runs N] [--sessions N]
 * [--years N]`. Each run has a key and one delivery that arrived. The last line that it prints names three of them.
 */
import { numberOf, valueOf } from './flags.js'
import { writeHistory } from './history/write.js'

const root = valueOf('--root')
if (root === undefined) {
  process.stderr.write('say where: --root FOLDER, absent or empty\n')
  process.exit(2)
}
const runs = numberOf('--runs') ?? 100_000
const began = performance.now()
const progress = (written: number): void => {
  const perSecond = Math.round(written / ((performance.now() - began) / 1000))
  const resident = Math.round(process.memoryUsage.rss() / 2 ** 20)
  process.stdout.write(`${written} of ${runs} runs, ${perSecond}/s, ${resident} MiB resident\n`)
}
const history = await writeHistory({
  root,
  runs,
  sessions: numberOf('--sessions') ?? 1000,
  years: numberOf('--years') ?? 3,
  progress,
})
progress(runs)
process.stdout.write(`${JSON.stringify(history)}\n`)
process.exit(0)

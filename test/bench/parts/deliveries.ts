/** Outputs that leave the daemon. */
import { rmSync } from 'node:fs'
import { median, programOf, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { compareDeliveries, type Compared } from '../deliveries.js'
import { startServer } from '../server.js'

/** Each delivery is two changes of state on disk; the posts beside it keep nothing. */
const measure = async ({ note, quick, rounds }: Bench): Promise<void> => {
  const root = temporaryRoot()
  const receiver = await startServer([programOf('receiver')])
  const daemon = await startDaemon(root)
  const samples: Compared[] = []
  const of = (member: keyof Compared): number => median(samples.map((sample) => sample[member]))
  for (let round = 0; round < rounds; round += 1)
    samples.push(await compareDeliveries(daemon, receiver.url, quick ? 1280 : 12_800))
  note('deliveries to 64 targets', '/s', 'more', of('ours'), of('direct'))
  note('CPU time of a delivery', 'ms', 'less', of('oursCpu'), of('directCpu'))
  await daemon.stop()
  await receiver.stop()
  rmSync(root, { recursive: true })
}

export const deliveries: Part = { name: 'deliveries', measure }

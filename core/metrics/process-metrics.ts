/** What the process itself takes. */
import type { Metric } from './contract.js'
import { gauges } from './instruments.js'

export const processMetrics = (startedAtMs: number): readonly Metric[] => [
  ...gauges(
    ['service_process_resident_memory_bytes', 'Memory of the process that is in RAM.', () => process.memoryUsage.rss()],
    ['service_process_heap_used_bytes', 'Memory of objects.', () => process.memoryUsage().heapUsed],
    [
      'service_process_external_memory_bytes',
      'Memory of buffers outside the heap.',
      () => process.memoryUsage().external,
    ],
    ['service_process_start_time_seconds', 'When the daemon started, Unix time.', () => startedAtMs / 1000],
  ),
  {
    name: 'service_process_cpu_seconds_total',
    help: 'CPU time of the process, in user and system mode.',
    type: 'counter',
    collect: () => {
      const used = process.cpuUsage()
      return [{ value: (used.user + used.system) / 1e6 }]
    },
  },
]

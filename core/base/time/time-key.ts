/** A sort key of an index: Unix ms as text that sorts as the number does; 0 if it is absent. */
export const timeKey = (ms: number | undefined): string => String(ms ?? 0).padStart(16, '0')

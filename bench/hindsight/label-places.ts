// Finds places for the names of points where they cover neither each other nor a point, as near as there are any.

/** A rectangle, pixels; y grows downwards. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A point of a plot, pixels. */
export interface NamedPoint {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

/** A name with the left end of its base line; `leader` leads from the point to a name that is farther away. */
export interface PlacedLabel {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly leader: { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number } | null;
}

/** What is known of letters and points, pixels. */
export interface LabelFacts {
  readonly frame: Box;
  readonly font: number;
  readonly radius: number;
}

/** Width of a letter, of the font's size, on the average. */
const LETTER = 0.55;
const GAP = 4;
/** Rings around the point at which a place is looked for, and places on a ring. */
const RINGS = 14;
const PLACES = 16;

/** Places the names, those in the thick of the crowd first. */
export function placeLabels(points: readonly NamedPoint[], facts: LabelFacts): readonly PlacedLabel[] {
  const taken: Box[] = points.map(({ x, y }) => around(x, y, facts.radius + 1));
  const crowded = points.toSorted((a, b) => neighbours(b, points) - neighbours(a, points));
  return crowded.map((point) => {
    const candidates = listPlaces(point, facts).filter(({ box }) => isInside(box, facts.frame));
    const free = candidates.filter(({ box }) => !taken.some((other) => overlaps(box, other)));
    const place = free.find(({ box }) => isNearest(point, box, points)) ?? free[0] ?? candidates[0];
    if (place === undefined) throw new Error(`there is no place for ${point.name} in the frame`);
    taken.push(place.box);
    const { box, ring } = place;
    const isPlain = ring === 0 && isNearest(point, box, points);
    const leader = isPlain ? null : { x1: point.x, y1: point.y, ...nearest(point, box) };
    return { name: point.name, x: box.left, y: box.bottom - facts.font * 0.25, leader };
  });
}

/** Whether no other point is nearer to a box: else a reader takes the name for that of the other. */
function isNearest(point: NamedPoint, box: Box, points: readonly NamedPoint[]): boolean {
  const distance = (to: NamedPoint): number => {
    const { x2, y2 } = nearest(to, box);
    return Math.hypot(x2 - to.x, y2 - to.y);
  };
  const own = distance(point);
  return points.every((other) => (other.x === point.x && other.y === point.y) || distance(other) > own);
}

/** Places from near to far, right of the point first. */
function listPlaces({ name, x, y }: NamedPoint, { font, radius }: LabelFacts): { box: Box; ring: number }[] {
  const [width, height] = [name.length * font * LETTER, font * 1.15];
  return Array.from({ length: RINGS * PLACES }, (_, at) => {
    const ring = Math.floor(at / PLACES);
    const angle = ((at % PLACES) / PLACES) * 2 * Math.PI;
    const distance = radius + GAP + ring * 9;
    const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
    const left = x + dx * distance + (dx < -0.3 ? -width : dx > 0.3 ? 0 : -width / 2);
    const top = y + dy * (distance + height / 2) - height / 2;
    return { ring, box: { left, top, right: left + width, bottom: top + height } };
  });
}

function neighbours({ x, y }: NamedPoint, points: readonly NamedPoint[]): number {
  return points.filter((other) => Math.hypot(other.x - x, other.y - y) < 60).length;
}

function around(x: number, y: number, by: number): Box {
  return { left: x - by, top: y - by, right: x + by, bottom: y + by };
}

/** Whether two boxes cover a pixel of each other. */
export function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function isInside(box: Box, frame: Box): boolean {
  return box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
}

function nearest({ x, y }: NamedPoint, { left, right, top, bottom }: Box): { x2: number; y2: number } {
  const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
  return { x2: clamp(x, left, right), y2: clamp(y, top, bottom) };
}

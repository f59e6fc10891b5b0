// The drawing: bodies, ghost, world, ground, joints, effectors, contacts and the pull.

import * as THREE from "three";
import { Instances } from "./arrows";
import { Bodies, colorOf } from "./bodies";
import { Camera } from "./camera";
import { CONTACT, LOAD, SPRING, type Frame, type MeshMessage, type SceneMessage } from "./protocol";
import { solid, SOFTWARE } from "./materials";
import { quantity } from "./plots";
import { Marks } from "./marks";
import { matrixOf, piece } from "./shapes";
import { theme, type Theme } from "./theme";

export interface Shown {
  contacts: boolean;
  cones: boolean;
  joints: boolean;
  effectors: boolean;
  touched: boolean;
  acting: boolean;
  colour: "plain" | "torque" | "gap";
}

/** Frames slower than this, ms, for a while, and shadows go; then fine pixels. */
const SLOW = 34;
const PATIENCE = 900;
/** More joints than this are not marked. */
const MOST_JOINTS = 150;
const MOST_CONTACTS = 512;
const MOST_LOADS = 512;
const MOST_SPRINGS = 128;

/** Gives back what the graphics processor holds of an object and all in it, and empties it. */
function discard<T extends THREE.Object3D>(object: T): T {
  object.traverse((part) => {
    if (!(part instanceof THREE.Mesh || part instanceof THREE.LineSegments)) return;
    (part.geometry as THREE.BufferGeometry).dispose();
    (part.material as THREE.Material).dispose();
    if (part instanceof THREE.InstancedMesh) part.dispose();
  });
  object.clear();
  return object;
}

export class Drawing {
  readonly camera: Camera;
  readonly shown: Shown = { contacts: true, cones: false, joints: true, effectors: true, touched: false, acting: true, colour: "plain" };
  bodies: Bodies | undefined;
  private ghost: Bodies | undefined;
  private message: SceneMessage | undefined;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2);
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0xb0b8c0, 1.5);
  private readonly ground = new THREE.Group();
  private readonly world = new THREE.Group();
  private marks: Marks | undefined;
  private effectors: THREE.InstancedMesh | undefined;
  private effectorFrames: THREE.Matrix4[] = [];
  private softness: THREE.InstancedMesh | undefined;
  private readonly forces = Instances.arrows(MOST_CONTACTS);
  private readonly cones = Instances.cones(MOST_CONTACTS);
  private readonly pull = Instances.arrows(1);
  private readonly loads = Instances.arrows(MOST_LOADS);
  private readonly springs = Instances.springs(MOST_SPRINGS);
  private theme: Theme = theme();
  /** Colours of the mechanism and of its ghost, instead of those of their files and the theme. */
  tints: [own: string, ghost: string] | undefined;
  /** Length between lines of the ground's grid, m. */
  grid = 0;
  /** What is coloured red, where links are coloured by something. */
  most: string | undefined;
  /** A box around all that is to be seen, where that is known beforehand. */
  private whole: THREE.Box3 | undefined;
  private hovered: number | undefined;
  private fitted = false;
  private slow = 0;
  private before = 0;
  private quality = 2;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly covered: () => [right: number, top: number],
  ) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !SOFTWARE });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.camera = new Camera(canvas);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 4;
    this.scene.add(this.sun, this.sun.target, this.sky, this.ground, this.world);
    this.scene.add(this.forces.mesh, this.cones.mesh, this.pull.mesh, this.loads.mesh, this.springs.mesh);
    this.recolour();
  }

  /** Another scene; where the name is the same, the view stays. */
  setScene(message: SceneMessage, meshes: Map<number, MeshMessage>): void {
    const same = this.message?.name === message.name && this.message.bodies.length === message.bodies.length;
    this.message = message;
    [this.bodies, this.ghost].forEach((old) => {
      if (old) this.scene.remove(old.object);
      old?.dispose();
    });
    this.bodies = new Bodies(message, meshes, false, this.shown.touched);
    this.ghost = new Bodies(message, meshes, true, this.shown.touched);
    this.ghost.object.visible = false;
    this.scene.add(this.bodies.object, this.ghost.object);
    discard(this.world);
    for (const shape of message.world) {
      const one = piece(shape, meshes, { sides: 40 });
      if (!one) continue;
      const mesh = new THREE.Mesh(one.geometry(), solid({}));
      mesh.matrixAutoUpdate = false;
      mesh.matrix.copy(one.matrix);
      mesh.userData.color = colorOf(shape);
      mesh.castShadow = mesh.receiveShadow = true;
      this.world.add(mesh);
    }
    this.mark();
    this.fitted = same && this.fitted;
    if (!same) this.camera.follow(undefined);
    this.recolour();
  }

  /** Marks of joints, balls on effectors. */
  private mark(): void {
    [this.marks?.object, this.effectors, this.softness].forEach((old) => old && discard(old).removeFromParent());
    const { joints, effectors, radius } = this.message!;
    this.effectorFrames = effectors.map((effector) => matrixOf(effector.frame));
    const size = Math.min(0.02 * radius, (0.4 * radius) / Math.sqrt(Math.max(joints.length, 1)));
    this.marks = joints.length > MOST_JOINTS ? undefined : new Marks(this.message!, size);
    const ball = new THREE.SphereGeometry(Math.min(0.022 * radius, 1.2 * size), 16, 12);
    const bright = solid({ depthTest: false, transparent: true, opacity: 0.9 });
    this.effectors = new THREE.InstancedMesh(ball, bright, Math.max(effectors.length, 1));
    this.effectors.renderOrder = 5;
    this.effectors.count = effectors.length;
    this.effectors.frustumCulled = false;
    const glass = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.22, depthWrite: false, side: THREE.DoubleSide });
    this.softness = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 24, 16), glass, Math.max(effectors.length, 1));
    this.softness.frustumCulled = false;
    this.softness.visible = false;
    if (this.marks) this.scene.add(this.marks.object);
    this.scene.add(this.effectors, this.softness);
  }

  /** Takes the colours of the theme. */
  recolour(): void {
    this.theme = theme();
    const { background, horizon, world, effector, ambient, sun } = this.theme;
    this.scene.background = new THREE.Color(background);
    if (this.scene.fog) this.scene.fog.color.set(horizon);
    this.sky.intensity = ambient;
    this.sun.intensity = sun;
    const paint = (mesh: THREE.Object3D) => ((mesh as THREE.Mesh).material as THREE.MeshLambertMaterial).color.set(mesh.userData.color ?? world);
    this.world.children.forEach(paint);
    if (this.effectors) (this.effectors.material as THREE.MeshLambertMaterial).color.set(effector);
    if (this.softness) (this.softness.material as THREE.MeshBasicMaterial).color.set(effector);
    const [own, ghost] = (this.tints ?? []).map((color) => new THREE.Color(color));
    this.bodies?.paint(this.theme, own && (() => own));
    this.ghost?.paint(this.theme, ghost && (() => ghost));
    if (this.fitted) this.layGround();
  }

  /** A floor with a grid, below everything or where the world has a plane. */
  private layGround(): void {
    const { message } = this;
    if (!message || !this.bodies) return;
    discard(this.ground);
    const box = this.whole ?? this.bounds();
    const plane = message.world.find((shape) => shape.kind === "plane");
    const height = plane ? plane.pose[2] : box.min.z - 0.004 * message.radius;
    const size = 80 * message.radius;
    const cell = 10 ** Math.floor(Math.log10(message.radius));
    const floor = new THREE.Mesh(new THREE.PlaneGeometry(size, size), new THREE.MeshBasicMaterial({ color: this.theme.ground }));
    floor.position.set(0, 0, height - 0.002 * message.radius);
    // Shadows lie on a smaller sheet, which is all that has to be looked up in their map.
    const sheet = new THREE.Mesh(new THREE.PlaneGeometry(8 * message.radius, 8 * message.radius), new THREE.ShadowMaterial({ opacity: 0.28, depthWrite: false }));
    sheet.receiveShadow = true;
    const middle = box.getCenter(new THREE.Vector3());
    sheet.position.set(middle.x, middle.y, height - 0.001 * message.radius);
    sheet.visible = this.quality === 2;
    this.ground.add(floor, sheet);
    const step = (message.radius / cell > 4 ? 1 : 0.5) * cell;
    this.grid = step;
    const lines = 2 * Math.ceil((6 * message.radius) / step);
    const grid = new THREE.GridHelper(lines * step, lines, this.theme.grid, this.theme.gridFine).rotateX(Math.PI / 2);
    grid.position.z = height;
    this.ground.add(grid);
    if (plane) this.ground.quaternion.set(plane.pose[4], plane.pose[5], plane.pose[6], plane.pose[3]);
    else this.ground.quaternion.identity();
    const reach = 2.2 * Math.max(message.radius, box.getSize(new THREE.Vector3()).length() / 2);
    const center = box.getCenter(new THREE.Vector3());
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).add(new THREE.Vector3(-0.25, -0.6, 1.4).multiplyScalar(reach));
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01 * reach, far: 5 * reach });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.002 * reach;
  }

  /** A box around everything that moves and is near it. */
  bounds(): THREE.Box3 {
    const box = this.bodies!.bounds();
    if (box.isEmpty()) box.setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3().setScalar(this.message!.radius));
    // World shapes much larger than the mechanism do not push the camera away.
    this.world.updateMatrixWorld(true);
    for (const mesh of this.world.children) {
      const own = new THREE.Box3().setFromObject(mesh);
      if (own.getSize(new THREE.Vector3()).length() < 6 * this.message!.radius) box.union(own);
      else box.min.z = Math.min(box.min.z, Math.max(own.min.z, box.min.z - this.message!.radius));
    }
    return box;
  }

  /** Shows everything that is in a box: one that is given, which the ground lies below from then on, or that around all there is now. */
  fit(whole?: THREE.Box3): void {
    if (!this.bodies) return;
    this.whole = whole;
    this.camera.fit(whole ?? this.bounds());
    this.fitted = true;
    const away = this.camera.camera.position.distanceTo(this.camera.controls.target);
    this.scene.fog = new THREE.Fog(this.theme.horizon, 1.6 * away, 6 * away);
    this.layGround();
    // What walks is followed from the start.
    const base = this.base();
    if (base !== undefined) this.camera.follow(base, new THREE.Vector3().setFromMatrixPosition(this.bodies.pose(base)));
  }

  /** A body that carries joints and hangs on none: the base of something that is free. */
  private base(): number | undefined {
    const children = new Set(this.message!.joints.map((joint) => joint.child));
    return this.message!.joints.find(({ parent }) => parent !== null && !children.has(parent))?.parent ?? undefined;
  }

  hover(body: number | undefined): void {
    if (body === this.hovered) return;
    this.hovered = body;
    if (this.shown.colour === "plain") this.paintHovered();
  }

  private paintHovered(): void {
    const bright = new THREE.Color(this.theme.hover);
    this.bodies?.paint(this.theme, (at) => (at === this.hovered ? bright : undefined));
  }

  /** Puts everything where a frame has it. */
  place(frame: Frame): void {
    const { bodies, ghost, message } = this;
    if (!bodies || !ghost || !message || frame.lists.bodies.length !== 16 * message.bodies.length) return;
    bodies.place(frame.lists.bodies);
    ghost.object.visible = frame.lists.ghosts.length === frame.lists.bodies.length;
    if (ghost.object.visible) ghost.place(frame.lists.ghosts);
    if (!this.fitted) this.fit();
    this.paintLinks(frame);
    this.placeMarks(frame);
    this.placeContacts(frame);
    this.placePull(frame);
    this.placeActing(frame);
  }

  private placeMarks(frame: Frame): void {
    const { effectors } = this.message!;
    const whole = new THREE.Matrix4();
    if (this.marks) {
      this.marks.object.visible = this.shown.joints;
      if (this.shown.joints) this.marks.place(frame, (body) => this.bodies!.pose(body), new THREE.Color(this.theme.joint), new THREE.Color(this.theme.pull));
    }
    this.effectors!.visible = this.shown.effectors;
    effectors.forEach((effector, k) => this.effectors!.setMatrixAt(k, whole.multiplyMatrices(this.bodies!.pose(effector.body), this.effectorFrames[k]!)));
    this.effectors!.instanceMatrix.needsUpdate = true;
    this.placeEllipsoids(frame.lists.ellipsoids);
  }

  /** C maps the ball of all forces of one size onto the ellipsoid of where they move an effector; the softest is drawn a third of the
   *  radius long. */
  private placeEllipsoids(columns: Float32Array): void {
    const { effectors, radius } = this.message!;
    this.softness!.visible = columns.length === 9 * effectors.length && columns.length > 0;
    if (!this.softness!.visible) return;
    const size = (k: number) => Math.hypot(...columns.subarray(9 * k, 9 * k + 9));
    const most = Math.max(1e-30, ...effectors.map((_, k) => size(k)));
    const at = new THREE.Matrix4();
    effectors.forEach((effector, k) => {
      at.multiplyMatrices(this.bodies!.pose(effector.body), this.effectorFrames[k]!);
      const c = Array.from(columns.subarray(9 * k, 9 * k + 9), (x) => (x * radius) / (3 * most));
      const [x, y, z] = [at.elements[12]!, at.elements[13]!, at.elements[14]!];
      this.softness!.setMatrixAt(k, new THREE.Matrix4().fromArray([c[0]!, c[1]!, c[2]!, 0, c[3]!, c[4]!, c[5]!, 0, c[6]!, c[7]!, c[8]!, 0, x, y, z, 1]));
    });
    this.softness!.instanceMatrix.needsUpdate = true;
  }

  /** Links by what is largest in their joints: blue where there is nothing, red where there is most. */
  private paintLinks(frame: Frame): void {
    this.most = undefined;
    if (this.shown.colour === "plain") return;
    const [gaps, of] = [this.shown.colour === "gap", new Map<number, number>()];
    const larger = (body: number | null, value: number) => body !== null && of.set(body, Math.max(of.get(body) ?? 0, value));
    this.message!.joints.forEach((joint, at) => {
      if (gaps) [joint.parent, joint.child].forEach((body) => larger(body, frame.lists.gaps[at] ?? 0));
      else joint.freedoms.forEach((_, k) => larger(joint.child, Math.abs(frame.lists.torques[joint.coordinate + k] ?? 0)));
    });
    // What rounding leaves is nothing.
    const most = Math.max(gaps ? 1e-9 * this.message!.radius : 1e-9, ...of.values());
    this.most = `${quantity(most)} ${gaps ? "m" : "N·m"}`;
    const color = new THREE.Color();
    this.bodies!.paint(this.theme, (at) => color.setHSL(0.6 * (1 - (of.get(at) ?? 0) / most), 0.75, 0.52).clone());
  }

  private placeContacts(frame: Frame): void {
    const { contacts } = frame.lists;
    const { radius } = this.message!;
    const force = (k: number) => new THREE.Vector3(contacts[k + 6], contacts[k + 7], contacts[k + 8]);
    let most = 0;
    for (let k = 0; k < contacts.length; k += CONTACT) most = Math.max(most, force(k).length());
    this.forces.begin();
    this.cones.begin();
    if (this.shown.contacts || this.shown.cones)
      for (let k = 0; k < contacts.length; k += CONTACT) {
        const at = new THREE.Vector3(contacts[k], contacts[k + 1], contacts[k + 2]);
        const normal = new THREE.Vector3(contacts[k + 3], contacts[k + 4], contacts[k + 5]);
        const color = new THREE.Color(contacts[k + 11] ? this.theme.slip : this.theme.contact);
        if (this.shown.contacts) this.forces.add(at, force(k), (0.45 * radius * force(k).length()) / most, 0.012 * radius, color);
        const friction = contacts[k + 9]!;
        if (this.shown.cones) this.cones.add(at, normal, 0.12 * radius, 0.12 * radius * Math.min(friction, 4), color);
      }
    this.forces.end();
    this.cones.end();
  }

  private placePull(frame: Frame): void {
    this.pull.begin();
    if (frame.held) {
      const from = new THREE.Vector3(frame.held_x, frame.held_y, frame.held_z);
      const way = new THREE.Vector3(frame.goal_x, frame.goal_y, frame.goal_z).sub(from);
      this.pull.add(from, way, way.length(), 0.018 * this.message!.radius, new THREE.Color(this.theme.pull));
    }
    this.pull.end();
  }

  /** What acts from outside: springs to points, and loads, of which the largest is a third of the radius long. */
  private placeActing({ lists: { springs, loads } }: Frame): void {
    const { radius } = this.message!;
    const three = (list: Float32Array, at: number) => new THREE.Vector3().fromArray(list, at);
    this.springs.begin();
    this.loads.begin();
    if (this.shown.acting) {
      const calm = new THREE.Color(this.theme.joint);
      for (let k = 0; k < springs.length; k += SPRING) {
        const [from, to] = [three(springs, k), three(springs, k + 3)];
        this.springs.add(to, from.sub(to), from.length(), 0.018 * radius, calm);
      }
      let most = 0;
      for (let k = 0; k < loads.length; k += LOAD) most = Math.max(most, three(loads, k + 3).length());
      const color = new THREE.Color(this.theme.load);
      for (let k = 0; k < loads.length; k += LOAD) {
        const force = three(loads, k + 3);
        this.loads.add(three(loads, k), force, (radius * force.length()) / (3 * most), 0.014 * radius, color);
      }
    }
    this.springs.end();
    this.loads.end();
  }

  /** Springs to points and loads that are drawn. */
  actingCounts(): number[] {
    return [this.springs.mesh.count, this.loads.mesh.count];
  }

  /** Draws; where that is slow, shadows go, and then fine pixels: as long as all pictures of the browser are drawn, not one now and then. */
  draw(now: number, steadily = true): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = this.quality > 0 ? Math.min(devicePixelRatio, 2) : 0.75;
    const size = this.renderer.getSize(new THREE.Vector2());
    if (size.x !== width || size.y !== height || this.renderer.getPixelRatio() !== ratio) {
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(width, height, false);
      this.camera.resize(width, height, ...this.covered());
    }
    this.camera.update((body) => new THREE.Vector3().setFromMatrixPosition(this.bodies!.pose(body)));
    this.renderer.render(this.scene, this.camera.camera);
    const took = now - this.before;
    this.before = now;
    // A page that was hidden is not slow.
    if (took < 1000 && steadily) this.slow = Math.max(0, this.slow + (took > SLOW ? took : -2 * took));
    // An address that ends with #fine is for pictures, however long they take.
    if (this.slow < PATIENCE || this.quality === 0 || location.hash === "#fine") return;
    this.slow = 0;
    this.quality -= 1;
    if (this.quality === 1) {
      this.renderer.shadowMap.enabled = this.sun.castShadow = false;
      this.bodies?.shadows(false);
      this.layGround();
      this.scene.traverse((object) => {
        const material = (object as THREE.Mesh).material as THREE.Material | undefined;
        if (material) material.needsUpdate = true;
      });
    }
  }

  /** Where a point of the world is in the page, px. */
  project(point: THREE.Vector3): THREE.Vector2 {
    const at = point.clone().project(this.camera.camera);
    const box = this.canvas.getBoundingClientRect();
    return new THREE.Vector2(box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height);
  }

  /** Geometries and textures that the graphics processor holds. */
  memory(): { geometries: number; textures: number } {
    return { ...this.renderer.info.memory };
  }

  /** Joints that are marked by a ring, a spiral and a coil. */
  markCounts(): number[] {
    return this.marks?.counts() ?? [0, 0, 0];
  }

  stream(): MediaStream {
    return this.canvas.captureStream(30);
  }

  picture(done: (blob: Blob | null) => void): void {
    this.renderer.render(this.scene, this.camera.camera);
    this.canvas.toBlob(done, "image/png");
  }
}

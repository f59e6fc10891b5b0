// Materials: with highlights where there is a graphics processor, plain where pictures are made by the processor.

import * as THREE from "three";

/** Whether pictures are made by the processor. Then no pixel is drawn several times for smooth edges either. */
export const SOFTWARE = isSoftware();

function isSoftware(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  const about = context?.getExtension("WEBGL_debug_renderer_info");
  const name = about ? String(context!.getParameter(about.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

/** What bodies are made of. */
export function solid(parameters: THREE.MeshLambertMaterialParameters): THREE.MeshLambertMaterial | THREE.MeshStandardMaterial {
  return SOFTWARE ? new THREE.MeshLambertMaterial(parameters) : new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.05, ...parameters });
}

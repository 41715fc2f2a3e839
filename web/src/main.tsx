import "./design/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { keys, newQueries } from "./api/queries";
import { followTheme } from "./design/theme";
import { newRouter } from "./routes";

followTheme();
const queries = newQueries(() => {
  queries.setQueryData(keys.me, null);
  const here = router.state.location.href;
  if (!here.startsWith("/login"))
    void router.navigate({ to: "/login", search: { to: here, why: "ended" } });
});
const router = newRouter(queries);

const place = document.getElementById("root");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
